package typed

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// column is one column of the data, and how its values become those of ours.
type column struct {
	feedmill.Column
	// fill gives a vector the values of an array: at says where the value of a row is, and is nil
	// where rows and values have the same places. Nulls are known to the vector already, and stay zero.
	fill func(c *column, v *columnar.Vector, values arrow.Array, at func(int) int)
	// write appends a value that is not null as text, or as JSON where json says so.
	write writer
	json  bool
	// nested is room to write one value as JSON.
	nested []byte

	counted
	// before is what was counted before the last vector, which may have to be made again, and room how
	// many bytes of text it can have.
	before counted
	// fault is why a value cannot be taken.
	fault error
	room  int
}

// counted is how many rows were read, and what was noticed of them.
type counted struct {
	rows  int64
	notes [noteKinds]note
}

// field is a field of the data with what its type does not say: whether its bytes are
// text, whether that is JSON, and whether they are a period of Parquet.
type field struct {
	arrow.Field
	text, json, period bool
	children           []field
}

// newField is a field of a schema.
func newField(of arrow.Field) field {
	f := field{Field: of}
	name, _ := of.Metadata.GetValue("ARROW:extension:name")
	if extension, ok := of.Type.(arrow.ExtensionType); ok && !isUUID(of.Type) {
		name, f.Type = extension.ExtensionName(), extension.StorageType()
	}
	f.json = name == "arrow.json"
	if nested, ok := f.Type.(arrow.NestedType); ok {
		for _, child := range nested.Fields() {
			f.children = append(f.children, newField(child))
		}
	}
	if _, ok := f.Type.(*arrow.MapType); ok {
		f.children = f.children[0].children // the key and the value of an entry
	}
	return f
}

func isUUID(t arrow.DataType) bool {
	extension, ok := t.(arrow.ExtensionType)
	return ok && extension.ExtensionName() == "arrow.uuid"
}

// newColumn finds what becomes of a field.
//
//	bool                                     boolean
//	int8 to int64, uint8 to uint32           integer
//	uint64                                   decimal(20, 0)
//	decimals of up to 38 digits              decimal
//	other decimals                           text
//	float16, float32, float64                number
//	text of every kind, UUID                 text
//	bytes                                    text in base64
//	date32, date64                           date
//	timestamps of every unit                 timestamp
//	times of day                             text, as 15:04:05.999999999
//	durations                                integer, in their unit
//	intervals                                text, as ISO 8601 has them
//	lists, structs, maps and JSON            json
//	dictionaries                             as their values
//	nothing but nulls                        text
func newColumn(f field) (*column, error) {
	c := &column{Column: feedmill.Column{SourceName: f.Name, Nullable: f.Nullable}}
	write, err := newWriter(f, 0)
	if err != nil {
		return nil, input.Refuse("unsupported-type", "column %q has the type %s, which is not supported; leave it out, or write it as text", f.Name, err)
	}
	c.Type, c.write, c.fill = columnar.TypeText, write, fillWritten
	switch t := plainType(f.Type).(type) {
	case *arrow.BooleanType:
		c.Type, c.fill = columnar.TypeBoolean, fillBooleans
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		c.Type, c.fill = columnar.TypeInteger, fillIntegers
	case *arrow.DurationType:
		c.Type, c.fill, c.Format = columnar.TypeInteger, fillIntegers, t.Unit.String()
	case *arrow.Uint64Type:
		c.decimal(20, 0)
	case arrow.DecimalType:
		if precision, scale := int(t.GetPrecision()), int(t.GetScale()); precision <= columnar.WideDigits && 0 <= scale && scale <= precision {
			c.decimal(precision, scale)
		}
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		c.Type, c.fill = columnar.TypeNumber, fillNumbers
	case *arrow.Date32Type, *arrow.Date64Type:
		c.Type, c.fill = columnar.TypeDate, fillDates
	case *arrow.TimestampType:
		c.Type, c.fill = columnar.TypeTimestamp, fillTimestamps
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		if !f.text && !f.period {
			c.Format = "base64"
		}
	case arrow.ExtensionType: // a UUID
	case arrow.NestedType:
		c.Type, c.json = columnar.TypeJSON, true
	}
	if f.json {
		c.Type, c.fill, c.Format = columnar.TypeJSON, fillJSON, ""
	}
	return c, nil
}

func (c *column) decimal(precision, scale int) {
	c.Type, c.fill, c.Precision, c.Scale = columnar.TypeDecimal, fillDecimals, max(precision, 1), scale
}

// plainType is the type of the values of a dictionary, and else the type itself.
func plainType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// begin makes ready to read all rows.
func (c *column) begin() { c.counted = counted{} }

// vector makes a vector of the next values.
func (c *column) vector(v *columnar.Vector, values arrow.Array) error {
	*v = columnar.Vector{Type: c.Type, Len: values.Len(), Precision: c.Precision, Scale: c.Scale}
	c.before = c.counted
	values = plainValues(values)
	var at func(int) int
	if d, ok := values.(*array.Dictionary); ok {
		words := d.Dictionary()
		at = d.GetValueIndex
		for i := range v.Len {
			if d.IsNull(i) || words.IsNull(at(i)) {
				null(v, i)
			}
		}
		values = words
	} else if none := values.DataType().ID() == arrow.NULL; none || values.NullN() > 0 {
		for i := range v.Len {
			if none || values.IsNull(i) {
				null(v, i)
			}
		}
	}
	c.fill(c, v, values, at)
	if c.fault != nil {
		return c.fault
	}
	c.rows += int64(v.Len)
	if len(v.Bytes) > c.room {
		return errLongRun
	}
	if err := v.Check(); err != nil {
		return fmt.Errorf("column %q: %w", c.SourceName, err)
	}
	return nil
}

// null makes row i of a vector null.
func null(v *columnar.Vector, i int) {
	if v.Valid == nil {
		v.Valid = make([]uint64, (v.Len+63)/64)
		for k := range v.Valid {
			v.Valid[k] = math.MaxUint64
		}
	}
	v.Valid[i>>6] &^= 1 << (i & 63)
}

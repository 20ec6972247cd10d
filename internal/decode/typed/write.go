package typed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// writer appends the value at a place of an array, which is not null, as people read it
// or, with json set, as JSON.
type writer func(to []byte, values arrow.Array, at int, json bool) []byte

// maxNested is how long one value can be that is written as JSON. Tests make it less.
var maxNested = input.MaxFieldBytes

// maxDepth is how deep lists, structs and maps can stand in each other.
const maxDepth = 64

// newWriter returns the writer of a field. It fails with the name of a type that cannot be
// written.
func newWriter(f field, depth int) (writer, error) {
	if depth > maxDepth {
		return nil, errors.New("with more than 64 nested levels")
	}
	var children []writer
	for _, child := range f.children {
		write, err := newWriter(child, depth+1)
		if err != nil {
			return nil, err
		}
		children = append(children, orNull(write))
	}
	switch t := f.Type.(type) {
	case *arrow.DictionaryType:
		word := f
		word.Type = t.ValueType
		write, err := newWriter(word, depth+1)
		if err != nil {
			return nil, err
		}
		write = orNull(write)
		return func(to []byte, values arrow.Array, at int, json bool) []byte {
			d, ok := values.(*array.Dictionary)
			if !ok {
				return write(to, values, at, json)
			}
			return write(to, d.Dictionary(), d.GetValueIndex(at), json)
		}, nil
	case *arrow.MapType:
		return writeMap(children[0], children[1], plainType(f.children[0].Type)), nil
	case *arrow.StructType:
		return writeStruct(f.children, children), nil
	case arrow.ListLikeType:
		return writeList(children[0]), nil
	case arrow.ExtensionType: // a UUID, as newField leaves no other
		return quoted(func(to []byte, values arrow.Array, at int) []byte { return append(to, values.ValueStr(at)...) }), nil
	}
	return newPlainWriter(f)
}

// plainValues are the values of an extension array that are read as what they are made of.
func plainValues(values arrow.Array) arrow.Array {
	if extension, ok := values.(array.ExtensionArray); ok && !isUUID(values.DataType()) {
		return extension.Storage()
	}
	return values
}

// orNull writes null where there is no value. What stands in a value can be shared by others, on every level:
// that it becomes too long is found as it is written.
func orNull(write writer) writer {
	return func(to []byte, values arrow.Array, at int, json bool) []byte {
		if len(to) > maxNested {
			panic(input.Refuse("too-long", "a list, struct or map has more than %d bytes as JSON, the maximum", maxNested))
		}
		if values.IsNull(at) {
			return append(to, "null"...)
		}
		return write(to, plainValues(values), at, json)
	}
}

// quoted is the writer of what is a string in JSON.
func quoted(write func(to []byte, values arrow.Array, at int) []byte) writer {
	return func(to []byte, values arrow.Array, at int, json bool) []byte {
		if !json {
			return write(to, values, at)
		}
		return appendQuoted(to, string(write(nil, values, at)))
	}
}

// newPlainWriter returns the writer of a type that has no others in it.
func newPlainWriter(f field) (writer, error) {
	switch f.Type.ID() {
	case arrow.NULL, arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return func(to []byte, values arrow.Array, at int, _ bool) []byte { return append(to, values.ValueStr(at)...) }, nil
	case arrow.DURATION:
		return func(to []byte, values arrow.Array, at int, _ bool) []byte {
			return strconv.AppendInt(to, int64(values.(*array.Duration).Value(at)), 10)
		}, nil
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return writeDecimal(f.Type.(arrow.DecimalType).GetScale()), nil
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return writeNumber, nil
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return quoted(func(to []byte, values arrow.Array, at int) []byte {
			return append(to, values.(array.StringLike).Value(at)...)
		}), nil
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		if f.period {
			return quoted(writeParquetPeriod), nil
		}
		return writeBytes(f.text || f.json), nil
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64:
		return quoted(writeTime), nil
	case arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return quoted(writeInterval), nil
	}
	return nil, errors.New(f.Type.String())
}

func writeNumber(to []byte, values arrow.Array, at int, _ bool) []byte {
	bits, n := 64, 0.0
	switch values := values.(type) {
	case *array.Float16:
		bits, n = 32, float64(values.Value(at).Float32())
	case *array.Float32:
		bits, n = 32, float64(values.Value(at))
	case *array.Float64:
		n = values.Value(at)
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return append(to, "null"...)
	}
	return strconv.AppendFloat(to, n, 'g', -1, bits)
}

func writeBytes(text bool) writer {
	return quoted(func(to []byte, values arrow.Array, at int) []byte {
		b := values.(interface{ Value(int) []byte }).Value(at)
		if text {
			return append(to, b...)
		}
		return base64.StdEncoding.AppendEncode(to, b)
	})
}

// writeTime writes days, times of day and points in time as RFC 3339 has them.
func writeTime(to []byte, values arrow.Array, at int) []byte {
	switch values := values.(type) {
	case *array.Date32:
		return values.Value(at).ToTime().AppendFormat(to, time.DateOnly)
	case *array.Date64:
		return values.Value(at).ToTime().AppendFormat(to, time.DateOnly)
	case *array.Time32:
		return values.Value(at).ToTime(values.DataType().(*arrow.Time32Type).Unit).AppendFormat(to, "15:04:05.999999999")
	case *array.Time64:
		return values.Value(at).ToTime(values.DataType().(*arrow.Time64Type).Unit).AppendFormat(to, "15:04:05.999999999")
	case *array.Timestamp:
		return values.Value(at).ToTime(values.DataType().(*arrow.TimestampType).Unit).UTC().AppendFormat(to, time.RFC3339Nano)
	}
	return to
}

// writeParquetPeriod writes a period that Parquet has in twelve bytes.
func writeParquetPeriod(to []byte, values arrow.Array, at int) []byte {
	b := values.(*array.FixedSizeBinary).Value(at)
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint32(b[i:])) }
	return appendPeriod(to, word(0), word(4), time.Duration(word(8))*time.Millisecond)
}

func writeInterval(to []byte, values arrow.Array, at int) []byte {
	switch values := values.(type) {
	case *array.MonthInterval:
		return appendPeriod(to, int64(values.Value(at)), 0, 0)
	case *array.DayTimeInterval:
		v := values.Value(at)
		return appendPeriod(to, 0, int64(v.Days), time.Duration(v.Milliseconds)*time.Millisecond)
	case *array.MonthDayNanoInterval:
		v := values.Value(at)
		return appendPeriod(to, int64(v.Months), int64(v.Days), time.Duration(v.Nanoseconds))
	}
	return to
}

// appendPeriod appends a period as ISO 8601 has it.
func appendPeriod(to []byte, months, days int64, seconds time.Duration) []byte {
	to = append(to, 'P')
	if months != 0 {
		to = append(strconv.AppendInt(to, months, 10), 'M')
	}
	if days != 0 || months == 0 && seconds == 0 {
		to = append(strconv.AppendInt(to, days, 10), 'D')
	}
	if seconds != 0 {
		to = strconv.AppendFloat(append(to, 'T'), seconds.Seconds(), 'f', -1, 64)
		to = append(to, 'S')
	}
	return to
}

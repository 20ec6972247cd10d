package lake

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// vectors copies rows of a batch: those that kept lists, or all where it is nil.
func vectors(batch arrow.RecordBatch, columns []feedmill.Column, kept []int) ([]columnar.Vector, error) {
	block := make([]columnar.Vector, len(columns))
	for i := range columns {
		if err := fill(&block[i], &columns[i], batch.Column(i), kept); err != nil {
			return nil, fmt.Errorf("column %q: %w", columns[i].Name, err)
		}
	}
	return block, nil
}

// fill makes a vector of values.
func fill(v *columnar.Vector, c *feedmill.Column, values arrow.Array, kept []int) error {
	*v = columnar.Vector{Type: c.Type, Len: values.Len(), Precision: c.Precision, Scale: c.Scale}
	if kept != nil {
		v.Len = len(kept)
	}
	// JSON is text to whoever does not know the extension.
	if known, ok := values.(array.ExtensionArray); ok {
		values = known.Storage()
	}
	v.Valid = valid(values, kept)
	switch values := values.(type) {
	case *array.Int64:
		v.Ints = pick(values.Int64Values(), kept, func(n int64) int64 { return n })
	case *array.Date32:
		v.Ints = pick(values.Date32Values(), kept, func(n arrow.Date32) int64 { return int64(n) })
	case *array.Timestamp:
		v.Ints = pick(values.TimestampValues(), kept, func(n arrow.Timestamp) int64 { return int64(n) })
	case *array.Float64:
		v.Floats = pick(values.Float64Values(), kept, func(n float64) float64 { return n })
	case *array.Decimal128:
		if c.Precision > columnar.NarrowDigits {
			v.Wide = pick(values.Values(), kept, func(n decimal128.Num) columnar.Int128 {
				return columnar.Int128{Hi: n.HighBits(), Lo: n.LowBits()}
			})
		} else {
			v.Ints = pick(values.Values(), kept, func(n decimal128.Num) int64 { return int64(n.LowBits()) })
		}
	case *array.Boolean:
		v.Ints = make([]int64, v.Len)
		for i := range v.Len {
			if values.Value(at(kept, i)) {
				v.Ints[i] = 1
			}
		}
	case *array.String:
		fillTexts(v, values, kept)
	default:
		return fmt.Errorf("values of the type %s", values.DataType())
	}
	zeroNulls(v)
	return v.Check()
}

func fillTexts(v *columnar.Vector, values *array.String, kept []int) {
	v.Offsets = make([]uint32, 1, v.Len+1)
	v.Bytes = make([]byte, 0, len(values.ValueBytes()))
	for i := range v.Len {
		v.Bytes = append(v.Bytes, values.Value(at(kept, i))...)
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
}

// at is where in a batch the row i of a block is.
func at(kept []int, i int) int {
	if kept == nil {
		return i
	}
	return kept[i]
}

// pick copies the values that are kept.
func pick[From, To any](values []From, kept []int, convert func(From) To) []To {
	if kept == nil {
		out := make([]To, len(values))
		for i, value := range values {
			out[i] = convert(value)
		}
		return out
	}
	out := make([]To, len(kept))
	for i, row := range kept {
		out[i] = convert(values[row])
	}
	return out
}

// valid has a bit for each row that is kept, or is nil where no value is null.
func valid(values arrow.Array, kept []int) []uint64 {
	if values.NullN() == 0 {
		return nil
	}
	n := values.Len()
	if kept != nil {
		n = len(kept)
	}
	var words []uint64
	for i := range n {
		if i&63 == 0 {
			words = append(words, 0)
		}
		if values.IsValid(at(kept, i)) {
			words[i>>6] |= 1 << (i & 63)
		}
	}
	return words
}

// zeroNulls puts a zero where there is no value.
func zeroNulls(v *columnar.Vector) {
	if v.Valid == nil || v.Offsets != nil {
		return
	}
	for i := range v.Len {
		if !v.Null(i) {
			continue
		}
		switch {
		case v.Ints != nil:
			v.Ints[i] = 0
		case v.Floats != nil:
			v.Floats[i] = 0
		case v.Wide != nil:
			v.Wide[i] = columnar.Int128{}
		}
	}
}

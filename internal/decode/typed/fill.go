package typed

import (
	"bytes"
	"math"
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// each calls fn for every row that is not null, with the place of its value.
func each(v *columnar.Vector, at func(int) int, fn func(i, at int)) {
	for i := range v.Len {
		if !v.Null(i) {
			fn(i, placeOf(i, at))
		}
	}
}

// placeOf is the place of the value of a row.
func placeOf(row int, at func(int) int) int {
	if at == nil {
		return row
	}
	return at(row)
}

// convert makes values of another type of those that are not null.
func convert[From, To any](v *columnar.Vector, at func(int) int, values []From, to func(From) To) []To {
	out := make([]To, v.Len)
	if at == nil && v.Valid == nil {
		for i, value := range values[:v.Len] {
			out[i] = to(value)
		}
		return out
	}
	each(v, at, func(i, at int) { out[i] = to(values[at]) })
	return out
}

func integer[N int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | arrow.Duration](n N) int64 {
	return int64(n)
}

func fillBooleans(_ *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	v.Ints = make([]int64, v.Len)
	each(v, at, func(i, at int) {
		if values.(*array.Boolean).Value(at) {
			v.Ints[i] = 1
		}
	})
}

func fillIntegers(_ *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	switch values := values.(type) {
	case *array.Int8:
		v.Ints = convert(v, at, values.Int8Values(), integer)
	case *array.Int16:
		v.Ints = convert(v, at, values.Int16Values(), integer)
	case *array.Int32:
		v.Ints = convert(v, at, values.Int32Values(), integer)
	case *array.Int64:
		v.Ints = convert(v, at, values.Int64Values(), integer)
	case *array.Uint8:
		v.Ints = convert(v, at, values.Uint8Values(), integer)
	case *array.Uint16:
		v.Ints = convert(v, at, values.Uint16Values(), integer)
	case *array.Uint32:
		v.Ints = convert(v, at, values.Uint32Values(), integer)
	case *array.Duration:
		v.Ints = convert(v, at, values.DurationValues(), integer)
	}
}

func fillDecimals(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	var wide []columnar.Int128
	switch values := values.(type) {
	case *array.Uint64:
		wide = convert(v, at, values.Uint64Values(), func(n uint64) columnar.Int128 { return columnar.Int128{Lo: n} })
	case *array.Decimal32:
		wide = convert(v, at, values.Values(), func(n decimal.Decimal32) columnar.Int128 { return columnar.Int128Of(int64(n)) })
	case *array.Decimal64:
		wide = convert(v, at, values.Values(), func(n decimal.Decimal64) columnar.Int128 { return columnar.Int128Of(int64(n)) })
	case *array.Decimal128:
		wide = convert(v, at, values.Values(), func(n decimal.Decimal128) columnar.Int128 {
			return columnar.Int128{Hi: n.HighBits(), Lo: n.LowBits()}
		})
	case *array.Decimal256:
		wide = convert(v, at, values.Values(), func(n decimal.Decimal256) columnar.Int128 {
			words := n.Array()
			low := columnar.Int128{Hi: int64(words[1]), Lo: words[0]}
			if sign := uint64(low.Hi >> 63); words[2] != sign || words[3] != sign {
				return columnar.Int128{Hi: math.MinInt64} // which no decimal of 38 digits is
			}
			return low
		})
	}
	c.checkDigits(wide)
	if v.Precision > columnar.NarrowDigits {
		v.Wide = wide
		return
	}
	v.Ints = make([]int64, v.Len)
	for i, n := range wide {
		v.Ints[i] = int64(n.Lo)
	}
}

// checkDigits refuses values with more digits than the column declares. Arrow and Parquet
// have room for more than they say: a decimal(4, 2) is kept in 32 bits.
func (c *column) checkDigits(values []columnar.Int128) {
	above := columnar.Int128{Lo: 1} // 10 to the power of the precision
	for range c.Precision {
		hi, lo := bits.Mul64(above.Lo, 10)
		above = columnar.Int128{Hi: above.Hi*10 + int64(hi), Lo: lo}
	}
	below := above.Neg()
	for i, n := range values {
		if n.Compare(above) >= 0 || n.Compare(below) <= 0 {
			c.fault = input.Refuse("wide-decimal", "row %d: a value of column %q has more than %d digits, the maximum of its type decimal(%d, %d); use a wider type in the file",
				c.rows+int64(i)+1, c.SourceName, c.Precision, c.Precision, c.Scale)
			return
		}
	}
}

func fillNumbers(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	switch values := values.(type) {
	case *array.Float16:
		v.Floats = convert(v, at, values.Values(), func(n float16.Num) float64 { return float64(n.Float32()) })
	case *array.Float32:
		v.Floats = convert(v, at, values.Float32Values(), func(n float32) float64 { return float64(n) })
	case *array.Float64:
		v.Floats = convert(v, at, values.Float64Values(), func(n float64) float64 { return n })
	}
	for i, n := range v.Floats {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			c.note(noteNumber, i)
		}
	}
}

const (
	microsPerDay = 24 * 3600 * 1_000_000
	nanosPerDay  = microsPerDay * 1000
)

// The days [firstDay, endDay) are those of the years 1 to 9999.
var (
	firstDay = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / (24 * 3600)
	endDay   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / (24 * 3600)
)

func fillDates(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	switch values := values.(type) {
	case *array.Date32:
		v.Ints = convert(v, at, values.Date32Values(), func(n arrow.Date32) int64 { return int64(n) })
	case *array.Date64:
		v.Ints = convert(v, at, values.Date64Values(), func(n arrow.Date64) int64 { return floor(int64(n), 24*3600*1000) })
	}
	for i, n := range v.Ints {
		if n < firstDay || n >= endDay {
			c.outside(v, i)
		}
	}
}

func fillTimestamps(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	stamps := values.(*array.Timestamp)
	unit := int64(stamps.DataType().(*arrow.TimestampType).Unit.Multiplier())
	v.Ints = make([]int64, v.Len)
	each(v, at, func(i, at int) {
		n := int64(stamps.Value(at))
		if days := floor(n, nanosPerDay/unit); days < firstDay || days >= endDay {
			c.outside(v, i)
			return
		}
		if unit >= int64(time.Microsecond) {
			v.Ints[i] = n * (unit / int64(time.Microsecond))
			return
		}
		v.Ints[i] = floor(n, 1000)
		if v.Ints[i]*1000 != n {
			c.note(noteDigits, i)
		}
	})
}

// outside makes a day or a time null that is too far away.
func (c *column) outside(v *columnar.Vector, i int) {
	v.Ints[i] = 0
	null(v, i)
	c.note(noteRange, i)
}

// floor divides and rounds down.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// takeTexts copies the bytes of all values, and reports whether it did: values that are no text, or
// too long, are left to [fillWritten].
func takeTexts(c *column, v *columnar.Vector, values arrow.Array) bool {
	texts, ok := values.(*array.String)
	if !ok || v.Len == 0 {
		return false
	}
	offsets, all := texts.ValueOffsets(), texts.ValueBytes()
	if len(all) > c.room || !utf8.Valid(all) {
		return false
	}
	first := offsets[0]
	v.Offsets = make([]uint32, v.Len+1)
	for i, end := range offsets[1 : v.Len+1] {
		if end < offsets[i] || end > offsets[i] && v.Null(i) {
			return false
		}
		if at := int(end - first); at < len(all) && !utf8.RuneStart(all[at]) {
			return false // in the middle of a character
		}
		v.Offsets[i+1] = uint32(end - first)
	}
	v.Bytes = bytes.Clone(all)
	return true
}

// fillWritten writes every value as text.
func fillWritten(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	if at == nil && takeTexts(c, v, values) {
		return
	}
	v.Offsets = make([]uint32, v.Len+1)
	for i := 0; i < v.Len && len(v.Bytes) <= c.room; i++ {
		if !v.Null(i) {
			start := len(v.Bytes)
			if c.json {
				c.nested = c.write(c.nested[:0], values, placeOf(i, at), true)
				v.Bytes = append(v.Bytes, c.nested...)
			} else {
				v.Bytes = c.write(v.Bytes, values, placeOf(i, at), false)
			}
			if !utf8.Valid(v.Bytes[start:]) {
				v.Bytes = append(v.Bytes[:start], strings.ToValidUTF8(string(v.Bytes[start:]), "\ufffd")...)
				c.note(noteText, i)
			}
		}
		v.Offsets[i+1] = uint32(len(v.Bytes))
	}
}

// fillJSON takes texts that say that they are JSON.
func fillJSON(c *column, v *columnar.Vector, values arrow.Array, at func(int) int) {
	v.Offsets = make([]uint32, v.Len+1)
	for i := 0; i < v.Len && len(v.Bytes) <= c.room; i++ {
		if !v.Null(i) {
			start := len(v.Bytes)
			v.Bytes = c.write(v.Bytes, values, placeOf(i, at), false)
			if !jsontext.Value(v.Bytes[start:]).IsValid() {
				v.Bytes = appendQuoted(v.Bytes[:start], string(v.Bytes[start:]))
				c.note(noteJSON, i)
			}
		}
		v.Offsets[i+1] = uint32(len(v.Bytes))
	}
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text) // bytes that are no text become U+FFFD
	return to
}

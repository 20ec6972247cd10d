package database

import (
	"encoding/base64"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Builder gathers the values of a column as vectors. A method is for columns of
// the types that it names; what a column cannot hold is null or mended, and noted.
type Builder struct {
	column feedmill.Column
	v      columnar.Vector
	notes  [noteKinds]note
	// rows is how many were taken before those of v.
	rows int64
	// sum makes numbers null that are not finite, and silent does not note them.
	sum, silent bool
}

// NewBuilder makes a builder of a column.
func NewBuilder(c feedmill.Column) *Builder {
	b := &Builder{column: c}
	b.begin(16 * BatchRows)
	return b
}

// BatchRows is how many rows are handed on together, and batchBytes how many bytes
// of text of a column are enough before that.
const (
	BatchRows  = 8192
	batchBytes = 2 << 20
)

// begin makes room for the values of a batch and so many bytes of text.
func (b *Builder) begin(text int) {
	c := &b.column
	b.v = columnar.Vector{Type: c.Type, Precision: c.Precision, Scale: c.Scale}
	if query.IsOpen(c) {
		b.v.Type, b.v.Precision, b.v.Scale = columnar.TypeText, 0, 0
	}
	switch {
	case b.v.Type == columnar.TypeText || c.Type == columnar.TypeJSON:
		b.v.Offsets = make([]uint32, 1, BatchRows+1)
		b.v.Bytes = make([]byte, 0, text)
	case c.Type == columnar.TypeNumber:
		b.v.Floats = make([]float64, 0, BatchRows)
	case c.Type == columnar.TypeDecimal && c.Precision > columnar.NarrowDigits:
		b.v.Wide = make([]columnar.Int128, 0, BatchRows)
	default:
		b.v.Ints = make([]int64, 0, BatchRows)
	}
}

// Full reports whether it is time to take what is there.
func (b *Builder) Full() bool { return b.v.Len >= BatchRows || len(b.v.Bytes) >= batchBytes }

// Take returns the values since the last time.
func (b *Builder) Take() columnar.Vector {
	v := b.v
	b.rows += int64(v.Len)
	b.begin(min(len(v.Bytes)+len(v.Bytes)/8, batchBytes))
	return v
}

// added counts a value.
func (b *Builder) added() {
	if b.v.Valid != nil {
		i := b.v.Len
		if i&63 == 0 {
			b.v.Valid = append(b.v.Valid, 0)
		}
		b.v.Valid[i>>6] |= 1 << (i & 63)
	}
	b.v.Len++
}

// Null adds no value.
func (b *Builder) Null() {
	i := b.v.Len
	if b.v.Valid == nil {
		b.v.Valid = make([]uint64, (i+63)/64, BatchRows/64)
		for k := range b.v.Valid {
			b.v.Valid[k] = math.MaxUint64
		}
		if i&63 != 0 {
			b.v.Valid[i>>6] = 1<<(i&63) - 1
		}
	}
	if i&63 == 0 {
		b.v.Valid = append(b.v.Valid, 0)
	}
	switch {
	case b.v.Offsets != nil:
		b.v.Offsets = append(b.v.Offsets, uint32(len(b.v.Bytes)))
	case b.v.Floats != nil:
		b.v.Floats = append(b.v.Floats, 0)
	case b.v.Wide != nil:
		b.v.Wide = append(b.v.Wide, columnar.Int128{})
	default:
		b.v.Ints = append(b.v.Ints, 0)
	}
	b.v.Len++
}

// Int adds an integer, or a decimal of few digits without its point.
func (b *Builder) Int(n int64) {
	if b.v.Wide != nil {
		b.Wide(columnar.Int128Of(n))
		return
	}
	b.v.Ints = append(b.v.Ints, n)
	b.added()
}

// Bool adds a boolean.
func (b *Builder) Bool(yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	b.Int(n)
}

// Wide adds a decimal without its point. The caller has checked its digits.
func (b *Builder) Wide(n columnar.Int128) {
	if b.v.Wide == nil {
		b.Int(int64(n.Lo))
		return
	}
	b.v.Wide = append(b.v.Wide, n)
	b.added()
}

// Float adds a number.
func (b *Builder) Float(n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		switch {
		case b.sum:
			b.note(noteSum)
			b.Null()
			return
		case !b.silent:
			b.note(noteNotFinite)
		}
	}
	b.v.Floats = append(b.v.Floats, n)
	b.added()
}

// The days [FirstDay, EndDay) are those of the years 1 to 9999, counted from
// 1970-01-01.
var (
	FirstDay = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / (24 * 3600)
	EndDay   = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / (24 * 3600)
)

const microsPerDay = 24 * 3600 * 1_000_000

// Date adds a day, counted from 1970-01-01.
func (b *Builder) Date(day int64) {
	if day < FirstDay || day >= EndDay {
		b.OutOfRange()
		return
	}
	b.Int(day)
}

// Timestamp adds a time in microseconds since 1970-01-01 UTC.
func (b *Builder) Timestamp(micros int64) {
	if micros < FirstDay*microsPerDay || micros >= EndDay*microsPerDay {
		b.OutOfRange()
		return
	}
	b.Int(micros)
}

// OutOfRange adds a null for a day or a time that a column cannot hold.
func (b *Builder) OutOfRange() {
	b.note(noteRange)
	b.Null()
}

// NoNumber adds a null for a decimal that is none: NaN or infinite.
func (b *Builder) NoNumber() {
	b.note(noteNoNumber)
	b.Null()
}

// Text adds a text. Bytes that are no UTF-8 are replaced.
func (b *Builder) Text(text []byte) {
	if utf8.Valid(text) {
		b.v.Bytes = append(b.v.Bytes, text...)
	} else {
		b.note(noteText)
		b.v.Bytes = append(b.v.Bytes, strings.ToValidUTF8(string(text), "\ufffd")...)
	}
	b.endText()
}

// Base64 adds bytes as text.
func (b *Builder) Base64(data []byte) {
	b.v.Bytes = base64.StdEncoding.AppendEncode(b.v.Bytes, data)
	b.endText()
}

// JSON adds a text that the database says is JSON. What is none becomes a string.
func (b *Builder) JSON(text []byte) {
	if jsontext.Value(text).IsValid() {
		b.v.Bytes = append(b.v.Bytes, text...)
	} else {
		b.note(noteJSON)
		b.v.Bytes, _ = jsontext.AppendQuote(b.v.Bytes, string(text))
	}
	b.endText()
}

func (b *Builder) endText() {
	b.v.Offsets = append(b.v.Offsets, uint32(len(b.v.Bytes)))
	b.added()
}

// Name is the name of the column, and Digits are those of a decimal.
func (b *Builder) Name() string                   { return b.column.Name }
func (b *Builder) Digits() (precision, scale int) { return b.column.Precision, b.column.Scale }

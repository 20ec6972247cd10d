package columnar

import (
	"fmt"
	"math/bits"
)

// Vector holds the typed values of one column for a run of rows: what
// modelling makes of cells and what a version is written from.
//
// The column's type says which slice has the values; the others are nil. It has
// an entry for every row, also where the value is null: zero, or for text and
// json an empty range. A boolean is 0 or 1, a date is days since 1970-01-01, a
// timestamp is microseconds since then in UTC, and a decimal is its digits
// without the point: 12.50 at scale 2 is 1250.
//
// A vector is not changed once it is handed on, so that several goroutines may
// read it.
type Vector struct {
	Type Type
	Len  int
	// Valid has a bit for each row, the lowest of the first word for row 0,
	// which is 1 where there is a value. Nil means that no value is null.
	Valid []uint64

	Ints   []int64   // integer, boolean, date, timestamp, decimal of up to 18 digits
	Wide   []Int128  // decimal of more than 18 digits
	Floats []float64 // number

	// Offsets has Len+1 entries: text or json value i is Bytes[Offsets[i]:Offsets[i+1]].
	Offsets []uint32
	Bytes   []byte

	// Precision and Scale are those of a decimal: how many digits it has at
	// most, and how many of them stand after the point.
	Precision, Scale int

	// Shared says that the memory is not the vector's own, and must never be
	// written to.
	Shared bool
}

// sharedNulls is up to how many nulls take no memory of their own: the columns
// of a table that has so many of them that most are empty.
const sharedNulls = 1 << 13

var (
	noInts    [sharedNulls]int64
	noFloats  [sharedNulls]float64
	noWide    [sharedNulls]Int128
	noOffsets [sharedNulls + 1]uint32
	noValid   [sharedNulls / 64]uint64
)

// Nulls returns a vector of n nulls, and false where they are so many that they
// are better made in memory that is used again.
func Nulls(t Type, n, precision, scale int) (Vector, bool) {
	if n == 0 || n > sharedNulls {
		return Vector{}, false
	}
	v := Vector{Type: t, Len: n, Precision: precision, Scale: scale, Valid: noValid[: (n+63)/64 : (n+63)/64], Shared: true}
	switch {
	case t == TypeText || t == TypeJSON:
		v.Offsets = noOffsets[: n+1 : n+1]
	case t == TypeNumber:
		v.Floats = noFloats[:n:n]
	case t == TypeDecimal && precision > NarrowDigits:
		v.Wide = noWide[:n:n]
	default:
		v.Ints = noInts[:n:n]
	}
	return v, true
}

// NarrowDigits is the precision up to which a decimal is held in Ints; above
// it, up to WideDigits, it is held in Wide.
const (
	NarrowDigits = 18
	WideDigits   = 38
)

// Null reports whether row i has no value.
func (v *Vector) Null(i int) bool {
	return v.Valid != nil && v.Valid[i>>6]&(1<<(i&63)) == 0
}

// Nulls counts the rows without a value.
func (v *Vector) Nulls() int {
	if v.Valid == nil {
		return 0
	}
	there := 0
	whole := v.Len >> 6
	for _, word := range v.Valid[:whole] {
		there += bits.OnesCount64(word)
	}
	if rest := v.Len & 63; rest != 0 {
		there += bits.OnesCount64(v.Valid[whole] & (1<<rest - 1))
	}
	return v.Len - there
}

// Text is the value of row i of a text or json column; it is empty where the
// value is null. It shares the memory of the vector.
func (v *Vector) Text(i int) []byte {
	return v.Bytes[v.Offsets[i]:v.Offsets[i+1]:v.Offsets[i+1]]
}

// Check reports whether the slices of the vector are as long as Len says and
// the offsets never run backwards.
func (v *Vector) Check() error {
	if v.Len < 0 {
		return fmt.Errorf("vector of %d rows", v.Len)
	}
	if v.Valid != nil && len(v.Valid) < (v.Len+63)/64 {
		return fmt.Errorf("vector of %d rows has validity for %d", v.Len, 64*len(v.Valid))
	}
	values := len(v.Ints)
	switch v.Type {
	case TypeText, TypeJSON:
		return v.checkText()
	case TypeNumber:
		values = len(v.Floats)
	case TypeDecimal:
		if v.Precision < 1 || v.Precision > WideDigits || v.Scale < 0 || v.Scale > v.Precision {
			return fmt.Errorf("vector of decimal(%d,%d)", v.Precision, v.Scale)
		}
		if v.Precision > NarrowDigits {
			values = len(v.Wide)
		}
	case TypeInteger, TypeBoolean, TypeDate, TypeTimestamp:
	default:
		return fmt.Errorf("vector of type %q", v.Type)
	}
	if values != v.Len {
		return fmt.Errorf("vector of %d rows of %s has %d values", v.Len, v.Type, values)
	}
	return nil
}

func (v *Vector) checkText() error {
	if len(v.Offsets) != v.Len+1 {
		return fmt.Errorf("vector of %d rows of %s has %d offsets", v.Len, v.Type, len(v.Offsets))
	}
	last := v.Offsets[0]
	for i, offset := range v.Offsets {
		if offset < last {
			return fmt.Errorf("offset %d of the vector runs backwards", i)
		}
		last = offset
	}
	if int(last) > len(v.Bytes) {
		return fmt.Errorf("vector of %d bytes has an offset of %d", len(v.Bytes), last)
	}
	return nil
}

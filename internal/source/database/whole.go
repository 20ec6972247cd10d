package database

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Whole takes a vector that came as one. It is the same one where the column can
// hold all of its values; else what it cannot hold is null or mended, and noted.
func (b *Builder) Whole(v columnar.Vector) columnar.Vector {
	if !b.mends(&v) {
		b.rows += int64(v.Len)
		return v
	}
	for i := range v.Len {
		switch {
		case v.Null(i):
			b.Null()
		case v.Type == columnar.TypeJSON:
			b.JSON(v.Text(i))
		case v.Type == columnar.TypeDate:
			b.Date(v.Ints[i])
		case v.Type == columnar.TypeTimestamp:
			b.Timestamp(v.Ints[i])
		default:
			b.Float(v.Floats[i])
		}
	}
	return b.Take()
}

// mends reports whether there is a value that the column cannot hold, or that is to
// be noted.
func (b *Builder) mends(v *columnar.Vector) bool {
	low, end := int64(math.MinInt64), int64(math.MaxInt64)
	switch v.Type {
	case columnar.TypeDate:
		low, end = FirstDay, EndDay
	case columnar.TypeTimestamp:
		low, end = FirstDay*microsPerDay, EndDay*microsPerDay
	case columnar.TypeNumber:
		for _, n := range v.Floats {
			if math.IsNaN(n - n) {
				return true
			}
		}
		return false
	case columnar.TypeJSON:
		for i := range v.Len {
			if !v.Null(i) && !jsontext.Value(v.Text(i)).IsValid() {
				return true
			}
		}
		return false
	default:
		return false
	}
	for _, n := range v.Ints {
		if n < low || n >= end { // a null is 0, which is in between
			return true
		}
	}
	return false
}

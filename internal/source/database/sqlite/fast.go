package sqlite

import (
	"math"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// fastReader adds a value as most are. It reports false of others, which a reader
// takes.
type fastReader func(*database.Builder, *dialect.Cell) bool

func newFastReader(c feedmill.Column) fastReader {
	switch c.Type {
	case columnar.TypeText:
		return fastText
	case columnar.TypeInteger:
		return fastInteger
	case columnar.TypeNumber:
		return fastNumber
	case columnar.TypeDecimal:
		if c.Precision <= exactDigits {
			return newFastDecimal(c)
		}
	case columnar.TypeDate:
		return fastDate
	case columnar.TypeTimestamp:
		return fastTimestamp
	}
	return nil
}

func fastText(b *database.Builder, c *dialect.Cell) bool {
	if c.Class == dialect.ClassText {
		b.Text(c.Text)
	}
	return c.Class == dialect.ClassText
}

func fastInteger(b *database.Builder, c *dialect.Cell) bool {
	if c.Class == dialect.ClassInteger {
		b.Int(c.Int)
	}
	return c.Class == dialect.ClassInteger
}

func fastNumber(b *database.Builder, c *dialect.Cell) bool {
	if c.Class == dialect.ClassFloat {
		b.Float(c.Float)
	}
	return c.Class == dialect.ClassFloat
}

// newFastDecimal takes a number whose digits are those of the column. Of up to 15
// digits there is one number that is nearest to each float, so that the digits which
// mean the float again are those that were meant.
func newFastDecimal(of feedmill.Column) fastReader {
	by, most := math.Pow10(of.Scale), math.Pow10(of.Precision)
	return func(b *database.Builder, c *dialect.Cell) bool {
		f := c.Float
		if c.Class == dialect.ClassInteger {
			f = float64(c.Int)
		} else if c.Class != dialect.ClassFloat {
			return false
		}
		n := math.Round(f * by)
		if n/by != f || math.Abs(n) >= most {
			return false
		}
		b.Int(int64(n))
		return true
	}
}

// fastDate takes 2006-01-02.
func fastDate(b *database.Builder, c *dialect.Cell) bool {
	const size = len("2006-01-02")
	if c.Class != dialect.ClassText || len(c.Text) != size {
		return false
	}
	var text [size + len(" 00:00:00")]byte
	copy(text[:], c.Text)
	copy(text[size:], " 00:00:00")
	n, ok := dialect.PlainMicros(string(text[:]))
	if ok {
		b.Date(n / (24 * 3600 * 1_000_000))
	}
	return ok
}

// fastTimestamp takes 2006-01-02 15:04:05.
func fastTimestamp(b *database.Builder, c *dialect.Cell) bool {
	if c.Class != dialect.ClassText || len(c.Text) != len(time.DateTime) {
		return false
	}
	n, ok := dialect.PlainMicros(string(c.Text))
	if ok {
		b.Timestamp(n)
	}
	return ok
}

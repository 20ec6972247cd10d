package parquet

import (
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// table is columns and their rows in blocks.
type table struct {
	columns []feedmill.Column
	blocks  [][]columnar.Vector
}

func (t table) rows() int {
	n := 0
	for _, b := range t.blocks {
		n += b[0].Len
	}
	return n
}

// drawTable draws a table of every kind of column.
func drawTable(t *rapid.T) table {
	var out table
	for i := range rapid.IntRange(1, 6).Draw(t, "columns") {
		c := feedmill.Column{
			Name: fmt.Sprintf("c%d %s", i, rapid.StringN(0, 5, 20).Draw(t, "name")),
			Type: rapid.SampledFrom(columnar.Types).Draw(t, "type"),
		}
		if c.Type == columnar.TypeDecimal {
			c.Precision = rapid.IntRange(1, columnar.WideDigits).Draw(t, "precision")
			c.Scale = rapid.IntRange(0, c.Precision).Draw(t, "scale")
		}
		out.columns = append(out.columns, c)
	}
	kinds := make([]int, len(out.columns))
	for i := range kinds {
		kinds[i] = rapid.IntRange(0, 3).Draw(t, "kind of values")
	}
	for range rapid.IntRange(0, 5).Draw(t, "blocks") {
		rows := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, 700), rapid.IntRange(0, 9000)).Draw(t, "rows")
		seed := rapid.Uint64().Draw(t, "seed")
		block := make([]columnar.Vector, len(out.columns))
		for i, c := range out.columns {
			block[i] = makeVector(c, rows, kinds[i], &noise{seed + uint64(i)})
		}
		out.blocks = append(out.blocks, block)
	}
	return out
}

// noise is a generator of numbers that looks random and is quick to draw thousands from.
type noise struct{ state uint64 }

func (n *noise) next() uint64 {
	n.state += 0x9e3779b97f4a7c15
	z := n.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (n *noise) below(limit uint64) uint64 { return n.next() % limit }

// makeVector makes values of a column: few different ones (kind 0), ones that
// rise (1), any (2), or long runs of the same (3); half of the seeds have nulls.
func makeVector(c feedmill.Column, rows, kind int, random *noise) columnar.Vector {
	v := columnar.Vector{Type: c.Type, Len: rows, Precision: c.Precision, Scale: c.Scale}
	nulls := random.below(4)
	if nulls > 1 {
		v.Valid = make([]uint64, (rows+63)/64)
		for i := range v.Valid {
			v.Valid[i] = ^uint64(0)
		}
	}
	if c.Type == columnar.TypeText || c.Type == columnar.TypeJSON {
		v.Offsets = make([]uint32, 1, rows+1)
	}
	for i := range rows {
		null := nulls == 2 && random.below(3) == 0 || nulls == 3 && i/50%2 == 0
		if null {
			v.Valid[i>>6] &^= 1 << (i & 63)
		}
		var n uint64
		switch kind {
		case 0:
			n = random.below(40)
		case 1:
			n = uint64(i) * 3
		case 2:
			n = random.next()
		case 3:
			n = uint64(i / 100)
		}
		if null {
			n = 0
		}
		appendValue(&v, n, null, random)
	}
	return v
}

func appendValue(v *columnar.Vector, n uint64, null bool, random *noise) {
	switch v.Type {
	case columnar.TypeText, columnar.TypeJSON:
		if !null {
			text := fmt.Sprintf("%d", n)
			if v.Type == columnar.TypeText && n%5 == 0 {
				text = strings.Repeat("é€", int(random.below(40))) + text
			}
			if v.Type == columnar.TypeText && n%11 == 0 {
				text = ""
			}
			v.Bytes = append(v.Bytes, text...)
		}
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	case columnar.TypeBoolean:
		v.Ints = append(v.Ints, int64(n&1))
	case columnar.TypeDate:
		v.Ints = append(v.Ints, int64(int32(n)))
	case columnar.TypeNumber:
		f := float64(int64(n)) / 8
		if n%13 == 1 {
			f = math.Float64frombits(n | 0x7ff0<<48) // infinite or NaN
		}
		if null {
			f = 0
		}
		v.Floats = append(v.Floats, f)
	case columnar.TypeDecimal:
		limit := powerOfTen(v.Precision)
		if v.Precision <= columnar.NarrowDigits {
			v.Ints = append(v.Ints, int64(n)%int64(limit.Lo))
			return
		}
		wide := columnar.Int128Of(int64(n))
		if n > math.MaxUint32 && limit.Hi > 0 {
			wide = columnar.Int128{Hi: int64(n>>8) % limit.Hi, Lo: n}
		}
		if n > math.MaxUint32 && n%3 == 0 {
			wide = wide.Neg()
		}
		v.Wide = append(v.Wide, wide)
	default:
		v.Ints = append(v.Ints, int64(n))
	}
}

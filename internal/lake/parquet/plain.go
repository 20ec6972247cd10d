package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
)

// layoutBooleans packs a bit for each value.
func (e *encoder) layoutBooleans() layout {
	values := e.scratch.ints
	l := layout{encoding: encodingPlain, rows: pageRows}
	l.page = func(dst []byte, from, to int) []byte {
		var word byte
		for i, v := range values[from:to] {
			word |= byte(v&1) << (i & 7)
			if i&7 == 7 {
				dst = append(dst, word)
				word = 0
			}
		}
		if (to-from)&7 != 0 {
			dst = append(dst, word)
		}
		return dst
	}
	if len(values) > 0 {
		least, most := slices.Min(values), slices.Max(values)
		if least < 0 || most > 1 {
			l.fault = fmt.Errorf("%d and %d are no booleans", least, most)
		}
		l.stats = statistics{min: []byte{byte(least)}, max: []byte{byte(most)}, exactMin: true, exactMax: true}
	}
	return l
}

func (e *encoder) layoutFloats() layout {
	values := e.scratch.floats
	l := layout{encoding: encodingPlain, rows: pageRows}
	l.page = func(dst []byte, from, to int) []byte {
		for _, v := range values[from:to] {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
		return dst
	}
	if len(values) == 0 {
		return l
	}
	least, most := values[0], values[0]
	for _, v := range values {
		// Readers disagree on where a NaN stands, so there are no bounds then.
		if math.IsNaN(v) {
			return l
		}
		least, most = min(least, v), max(most, v)
	}
	// Zero has two signs that are equal; the bounds take in both.
	if least == 0 {
		least = math.Copysign(0, -1)
	}
	if most == 0 {
		most = 0
	}
	l.stats = statistics{
		min: binary.LittleEndian.AppendUint64(nil, math.Float64bits(least)),
		max: binary.LittleEndian.AppendUint64(nil, math.Float64bits(most)),

		exactMin: true, exactMax: true,
	}
	return l
}

// layoutWide is for decimals that do not fit into 64 bits; each has as many
// bytes in the file as the greatest needs, the highest first.
func (e *encoder) layoutWide(precision int) layout {
	values := e.scratch.wide
	size := wideSize(precision)
	l := layout{encoding: encodingPlain, rows: pageRows}
	l.page = func(dst []byte, from, to int) []byte {
		for _, v := range values[from:to] {
			b := v.BigEndian()
			dst = append(dst, b[16-size:]...)
		}
		return dst
	}
	if len(values) == 0 {
		return l
	}
	least, most := values[0], values[0]
	for _, v := range values[1:] {
		if v.Compare(least) < 0 {
			least = v
		} else if v.Compare(most) > 0 {
			most = v
		}
	}
	limit := powerOfTen(precision)
	if most.Compare(limit) >= 0 || least.Compare(limit.Neg()) <= 0 {
		l.fault = fmt.Errorf("%s and %s do not have at most %d digits", least.Decimal(0), most.Decimal(0), precision)
	}
	low, high := least.BigEndian(), most.BigEndian()
	l.stats = statistics{min: low[16-size:], max: high[16-size:], exactMin: true, exactMax: true}
	return l
}

// wideSize is how many bytes a decimal of so many digits needs, its sign included.
func wideSize(precision int) int {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return most.BitLen()/8 + 1
}

// powerOfTen is the least number that has more than so many digits, at most 38.
func powerOfTen(digits int) columnar.Int128 {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return columnar.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: lo.Uint64()}
}

package columnar

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Int128 is a whole number of 128 bits in two's complement: Hi × 2⁶⁴ + Lo. It
// holds the digits of a decimal with up to 38 of them.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Int128Of is the number n.
func Int128Of(n int64) Int128 { return Int128{Hi: n >> 63, Lo: uint64(n)} }

// Compare is negative where a is less than b, zero where they are equal and
// positive where a is greater.
func (a Int128) Compare(b Int128) int {
	if c := cmp.Compare(a.Hi, b.Hi); c != 0 {
		return c
	}
	return cmp.Compare(a.Lo, b.Lo)
}

// Neg is -a. The least number has no opposite and stays as it is.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{Hi: int64(hi), Lo: lo}
}

// BigEndian is the number in 16 bytes, the highest first.
func (a Int128) BigEndian() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], uint64(a.Hi))
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return b
}

// Decimal is the number with its last scale digits after the point, such as
// -0.05 for -5 at scale 2. No digit is dropped: 1250 at scale 2 is 12.50.
func (a Int128) Decimal(scale int) string {
	hi, lo := uint64(a.Hi), a.Lo
	if a.Hi < 0 {
		n := a.Neg()
		hi, lo = uint64(n.Hi), n.Lo
	}
	var digits [40]byte
	at := len(digits)
	for hi != 0 || lo != 0 || len(digits)-at <= scale {
		var digit uint64
		hi, digit = hi/10, hi%10
		lo, digit = bits.Div64(digit, lo, 10)
		at--
		digits[at] = byte('0' + digit)
	}
	var text strings.Builder
	if a.Hi < 0 {
		text.WriteByte('-')
	}
	point := len(digits) - scale
	text.Write(digits[at:point])
	if scale > 0 {
		text.WriteByte('.')
		text.Write(digits[point:])
	}
	return text.String()
}

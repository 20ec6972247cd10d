package model

import (
	"encoding/binary"
	"math/bits"

	"github.com/feedmill/feedmill/internal/columnar"
)

const (
	zeros8 = 0x3030303030303030
	tops8  = 0x8080808080808080
)

// lastBytes is the last n bytes before end, n from 1 to 8, in the highest bytes of
// a word whose other bytes are the digit 0. The data has eight bytes before end.
func lastBytes(data []byte, end, n int) uint64 {
	word := binary.LittleEndian.Uint64(data[end-8 : end])
	// The mask says that the shift is less than 64, which makes it a single
	// instruction.
	shift := uint(8*(8-n)) & 63
	return (word^zeros8)>>shift<<shift ^ zeros8
}

// digits8 reports whether all eight bytes of a word are digits.
func digits8(word uint64) bool {
	return ((word+0x4646464646464646)|(word-zeros8))&tops8 == 0
}

// value8 is the number that eight digits make, the lowest byte being the first.
func value8(word uint64) uint64 {
	word -= zeros8
	word = word*10 + word>>8
	return ((word&0x000000ff000000ff)*0x000f424000000064 + (word>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
}

// allDigits reports whether the bytes from start to end are digits. There may be none.
func allDigits(data []byte, start, end int) bool {
	for ; end-start >= 8; end -= 8 {
		if !digits8(binary.LittleEndian.Uint64(data[end-8 : end])) {
			return false
		}
	}
	if end >= 8 {
		return start >= end || digits8(lastBytes(data, end, end-start))
	}
	for _, c := range data[start:max(start, end)] {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// digitsValue is the number that up to 19 digits make.
func digitsValue(data []byte, start, end int) (value uint64) {
	if end-start <= 8 && end >= 8 && end > start {
		return value8(lastBytes(data, end, end-start))
	}
	if end-start <= 16 && end >= 16 && end-start > 8 {
		return value8(lastBytes(data, end-8, end-start-8))*1e8 + value8(binary.LittleEndian.Uint64(data[end-8:end]))
	}
	for _, c := range data[start:end] {
		value = value*10 + uint64(c-'0')
	}
	return value
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// powers are those of ten that fit into a word.
var powers = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// appendDigits is n × 10^len(digits) + digits, for numbers of up to 38 digits.
func appendDigits(n columnar.Int128, digits []byte) columnar.Int128 {
	for len(digits) > 0 {
		part := digits[:min(len(digits), 19)]
		n = mulAdd(n, powers[len(part)], digitsValue(part, 0, len(part)))
		digits = digits[len(part):]
	}
	return n
}

// scaleUp is n × 10^by.
func scaleUp(n columnar.Int128, by int) columnar.Int128 {
	for by > 0 {
		step := min(by, 19)
		n = mulAdd(n, powers[step], 0)
		by -= step
	}
	return n
}

// mulAdd is n × factor + more, of numbers that are not negative.
func mulAdd(n columnar.Int128, factor, more uint64) columnar.Int128 {
	high, low := bits.Mul64(n.Lo, factor)
	low, carry := bits.Add64(low, more, 0)
	return columnar.Int128{Hi: int64(uint64(n.Hi)*factor + high + carry), Lo: low}
}

// signed is a number below 2^63, negative where minus is 1 and not 0.
func signed(n uint64, minus int) int64 { return int64(n^-uint64(minus)) + int64(minus) }

// one is 1 for true and 0 for false, without a branch: signs of numbers vary at random.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

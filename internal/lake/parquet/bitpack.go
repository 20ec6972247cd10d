package parquet

import (
	"encoding/binary"
	"math/bits"
)

// packed is a number whose low bits are packed.
type packed interface{ uint32 | uint64 }

// appendPacked appends the low width bits of each value, one after the other,
// the lowest bit first, and fills the last byte with zeros.
func appendPacked[T packed](dst []byte, values []T, width int) []byte {
	var word uint64
	used := 0
	for _, v := range values {
		word |= uint64(v) << used
		used += width
		if used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, word)
			used -= 64
			word = uint64(v) >> (width - used)
		}
	}
	for ; used > 0; used -= 8 {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return dst
}

// minRun is how many equal values are worth a run of their own between
// values that are packed.
const minRun = 24

// appendHybrid appends values of width bits in the run-length and bit-packing
// hybrid: equal values in a row as a run, all others packed in groups of eight.
func appendHybrid(dst []byte, values []uint32, width int) []byte {
	begin := 0
	for i := 0; i < len(values); {
		end := i + 1
		for end < len(values) && values[end] == values[i] {
			end++
		}
		// Values that are packed come in eights, except at the end.
		run := i + (8-(i-begin)%8)%8
		if end-run < minRun {
			i = end
			continue
		}
		dst = appendGroups(dst, values[begin:run], width)
		dst = appendRun(dst, values[run], end-run, width)
		begin, i = end, end
	}
	return appendGroups(dst, values[begin:], width)
}

func appendGroups(dst []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	size := len(dst) + groups*width
	dst = appendPacked(dst, values, width)
	for len(dst) < size {
		dst = append(dst, 0)
	}
	return dst
}

func appendRun(dst []byte, value uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for range (width + 7) / 8 {
		dst = append(dst, byte(value))
		value >>= 8
	}
	return dst
}

// appendLevels appends the definition levels of n rows from row from on: its
// validity, or a single run where no value is null. from is a multiple of eight.
func appendLevels(dst []byte, valid []uint64, from, n int) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if valid == nil {
		dst = appendRun(dst, 1, n, 1)
	} else {
		groups := (n + 7) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		for b := from / 8; b < from/8+groups; b++ {
			dst = append(dst, byte(valid[b/8]>>(b%8*8)))
		}
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// countBits counts the bits that are set from one bit to another.
func countBits(words []uint64, from, to int) int {
	n := 0
	for at := from; at < to; {
		word := words[at>>6] >> (at & 63)
		take := min(64-at&63, to-at)
		if take < 64 {
			word &= 1<<take - 1
		}
		n += bits.OnesCount64(word)
		at += take
	}
	return n
}

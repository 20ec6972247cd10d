package csv

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// portableFieldEnds does the work of [Dialect.fieldEnds] on every processor, for data from a
// base on, before which inside says, with all its bits, whether quotes are open. It scans
// 64 bytes at a time and no single one.
func (d Dialect) portableFieldEnds(data []byte, base int, quoted bool, inside uint64, ends []uint32) []uint32 {
	delimiter, newline, quote := repeat(d.Delimiter), repeat(d.Newline), repeat(d.Quote)
	low := lowBits
	n := len(ends)
	for ; base < len(data); base += 64 {
		var window *[64]byte
		if len(data)-base >= 64 {
			window = (*[64]byte)(data[base:])
		} else {
			var tail [64]byte
			copy(tail[:], data[base:])
			window = &tail
		}
		found := matchesEither(window, delimiter, newline, low)
		if quoted {
			if quotes := matches(window, quote, low); quotes|inside != 0 {
				within := prefixXor(transpose(quotes)) ^ inside
				inside = uint64(int64(within) >> 63)
				found &^= within
			}
		}
		if len(data)-base < 64 {
			found &= 1<<(len(data)-base) - 1
		}
		if cap(ends)-n < 64 {
			ends = slices.Grow(ends[:n], max(cap(ends), 1024))
		}
		n += positions((*[64]uint32)(ends[n:n+64]), uint32(base), found)
		ends = ends[:n]
	}
	return ends
}

// positions writes where the bits of a word stand, counted from base, and says
// how many there are. It writes eight at a time, because the processor would
// mispredict the end of a loop over single ones.
func positions(to *[64]uint32, base uint32, word uint64) int {
	count := bits.OnesCount64(word)
	for i := 0; i < count; i += 8 {
		eight := (*[8]uint32)(to[i&^7:])
		for j := range eight {
			eight[j] = base + uint32(bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	return count
}

func repeat(b byte) uint64 { return uint64(b) * 0x0101010101010101 }

// lowBits are all bits of each byte but the highest. They are a variable because
// the compiler would load a constant of that size anew for each use, where it
// keeps a variable in a register.
var lowBits uint64 = 0x7f7f7f7f7f7f7f7f

// matchesEither has a bit for each of 64 bytes that is one of two ASCII
// characters, which are repeated eight times each.
func matchesEither(window *[64]byte, a, b, low uint64) uint64 {
	found := neither(eight(window[0:]), a, b, low) >> 7
	found |= neither(eight(window[8:]), a, b, low) >> 6
	found |= neither(eight(window[16:]), a, b, low) >> 5
	found |= neither(eight(window[24:]), a, b, low) >> 4
	found |= neither(eight(window[32:]), a, b, low) >> 3
	found |= neither(eight(window[40:]), a, b, low) >> 2
	found |= neither(eight(window[48:]), a, b, low) >> 1
	found |= neither(eight(window[56:]), a, b, low)
	return transpose(^found)
}

func eight(bytes []byte) uint64 { return binary.LittleEndian.Uint64(bytes) }

// neither has the highest bit of each byte of a word that is neither of two
// characters. Adding all lower bits carries into the highest one, unless the byte is
// zero after the exclusive or; bytes that are not ASCII have it from the beginning.
func neither(word, a, b, low uint64) uint64 {
	ascii := word & low
	return (((ascii^a)+low)&((ascii^b)+low) | word) &^ low
}

// matches is the same for one character, before the bits are put in order.
func matches(window *[64]byte, a, low uint64) uint64 {
	found := neither(eight(window[0:]), a, a, low) >> 7
	found |= neither(eight(window[8:]), a, a, low) >> 6
	found |= neither(eight(window[16:]), a, a, low) >> 5
	found |= neither(eight(window[24:]), a, a, low) >> 4
	found |= neither(eight(window[32:]), a, a, low) >> 3
	found |= neither(eight(window[40:]), a, a, low) >> 2
	found |= neither(eight(window[48:]), a, a, low) >> 1
	found |= neither(eight(window[56:]), a, a, low)
	return ^found
}

// transpose swaps the rows and the columns of the square of eight by eight bits
// whose rows are bytes.
func transpose(word uint64) uint64 {
	swap := (word ^ word>>7) & 0x00aa00aa00aa00aa
	word ^= swap ^ swap<<7
	swap = (word ^ word>>14) & 0x0000cccc0000cccc
	word ^= swap ^ swap<<14
	swap = (word ^ word>>28) & 0x00000000f0f0f0f0
	return word ^ swap ^ swap<<28
}

// prefixXor has a bit set where an odd number of bits is set up to it: between
// an opening quote and the next.
func prefixXor(word uint64) uint64 {
	word ^= word << 1
	word ^= word << 2
	word ^= word << 4
	word ^= word << 8
	word ^= word << 16
	word ^= word << 32
	return word
}

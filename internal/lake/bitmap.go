package lake

import "math/bits"

// bitmap is a set of rows by their numbers.
type bitmap []uint64

func (b *bitmap) set(row int64) {
	word := int(row >> 6)
	if missing := word + 1 - len(*b); missing > 0 {
		*b = append(*b, make([]uint64, missing)...)
	}
	(*b)[word] |= 1 << (row & 63)
}

func (b bitmap) has(row int64) bool {
	word := int(row >> 6)
	return word < len(b) && b[word]&(1<<(row&63)) != 0
}

// and is the set together with another.
func (b bitmap) and(other bitmap) bitmap {
	if len(b) < len(other) {
		b, other = other, b
	}
	for i, word := range other {
		b[i] |= word
	}
	return b
}

// minus is the set without another.
func (b bitmap) minus(other bitmap) bitmap {
	for i := range min(len(b), len(other)) {
		b[i] &^= other[i]
	}
	return b
}

// first is the least number, or -1.
func (b bitmap) first() int64 {
	for i, word := range b {
		if word != 0 {
			return int64(i)<<6 + int64(bits.TrailingZeros64(word))
		}
	}
	return -1
}

// least are the least numbers, n of them where there are so many.
func (b bitmap) least(n int) (rows []int64) {
	for i, word := range b {
		for ; word != 0 && len(rows) < n; word &= word - 1 {
			rows = append(rows, int64(i)<<6+int64(bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// without lists which of n rows from one on are not in the set, by their
// distance from that one; nil means that none is in it.
func (b bitmap) without(from int64, n int) []int {
	any := false
	for row := from; row < from+int64(n) && int(row>>6) < len(b) && !any; row++ {
		any = b.has(row)
	}
	if !any {
		return nil
	}
	kept := make([]int, 0, n)
	for i := range n {
		if !b.has(from + int64(i)) {
			kept = append(kept, i)
		}
	}
	return kept
}

// count is how many rows are in the set.
func (b bitmap) count() (n int64) {
	for _, word := range b {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// between is how many rows from one on and before another are in the set.
func (b bitmap) between(from, to int64) (n int64) {
	for row := from; row < to && int(row>>6) < len(b); {
		if row&63 == 0 && row+64 <= to {
			n += int64(bits.OnesCount64(b[row>>6]))
			row += 64
			continue
		}
		if b.has(row) {
			n++
		}
		row++
	}
	return n
}

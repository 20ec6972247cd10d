package parquet

import (
	"encoding/binary"
	"math/bits"
)

// A block of DELTA_BINARY_PACKED has four parts of 32 differences each.
const (
	deltaBlock = 128
	deltaParts = 4
	deltaPart  = deltaBlock / deltaParts
)

// appendDelta appends values as DELTA_BINARY_PACKED. Differences wrap at size
// bits, the size of the column's physical type, as readers add them up in it.
func appendDelta(dst []byte, values []int64, size int) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaParts)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	unused := 64 - size
	var deltas [deltaBlock]uint64
	for at := 1; at < len(values); at += deltaBlock {
		n := min(deltaBlock, len(values)-at)
		least := int64(1<<63 - 1)
		last := values[at-1]
		for i, v := range values[at : at+n] {
			delta := (v - last) << unused >> unused
			last = v
			deltas[i] = uint64(delta)
			least = min(least, delta)
		}
		for i := range deltas[:n] {
			deltas[i] = (deltas[i] - uint64(least)) << unused >> unused
		}
		clear(deltas[n:])
		dst = binary.AppendVarint(dst, least)
		dst = appendParts(dst, &deltas, n)
	}
	return dst
}

// appendParts appends the widths of a block's parts and then those parts that
// have some of its n differences.
func appendParts(dst []byte, deltas *[deltaBlock]uint64, n int) []byte {
	widths := len(dst)
	dst = append(dst, make([]byte, deltaParts)...)
	for p := range (n + deltaPart - 1) / deltaPart {
		part := deltas[p*deltaPart : (p+1)*deltaPart]
		var all uint64
		for _, d := range part {
			all |= d
		}
		width := bits.Len64(all)
		dst[widths+p] = byte(width)
		if width > 0 {
			dst = appendPacked(dst, part, width)
		}
	}
	return dst
}

package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A column of whole numbers gets a dictionary where they are from a small
// range and come several times each. Each number is then looked up in a table
// of the whole range.
const (
	maxRange    = 1 << 14
	minRepeated = 4
)

// layoutInts is for integers, dates, timestamps and short decimals that have
// size bits in the file and lie between two bounds.
func (e *encoder) layoutInts(size int, low, high int64) layout {
	values := e.scratch.ints
	l := layout{encoding: encodingDelta, rows: pageRows}
	l.page = func(dst []byte, from, to int) []byte { return appendDelta(dst, values[from:to], size) }
	if len(values) == 0 {
		return l
	}
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	if least < low || most > high {
		l.fault = fmt.Errorf("%d and %d do not lie between %d and %d", least, most, low, high)
		return l
	}
	l.stats.min, l.stats.max = appendInt(nil, least, size), appendInt(nil, most, size)
	l.stats.exactMin, l.stats.exactMax = true, true
	// The difference is right as an unsigned number even where it overflows.
	if span := uint64(most) - uint64(least); span < maxRange && span*minRepeated < uint64(len(values)) {
		l.encoding = encodingDictionary
		l.dictionary, l.entries = e.rangeDictionary(values, least, int(span)+1, size)
		l.page = e.indexPages(l.entries)
	}
	return l
}

// rangeDictionary makes a dictionary, in order, of values that lie in a small
// range from least on, and sets the encoder's indexes.
func (e *encoder) rangeDictionary(values []int64, least int64, span, size int) (body []byte, entries int) {
	var table [maxRange]uint32
	for _, v := range values {
		table[v-least] = 1
	}
	body = e.dict.body[:0]
	for i := range table[:span] {
		if table[i] != 0 {
			table[i] = uint32(entries)
			entries++
			body = appendInt(body, least+int64(i), size)
		}
	}
	e.dict.body = body
	e.indexes = e.indexes[:0]
	for _, v := range values {
		e.indexes = append(e.indexes, table[v-least])
	}
	return body, entries
}

// indexPages writes pages of the encoder's indexes into a dictionary.
func (e *encoder) indexPages(entries int) func(dst []byte, from, to int) []byte {
	width := max(1, bits.Len(uint(entries-1)))
	return func(dst []byte, from, to int) []byte {
		return appendHybrid(append(dst, byte(width)), e.indexes[from:to], width)
	}
}

func appendInt(dst []byte, v int64, size int) []byte {
	if size == 32 {
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

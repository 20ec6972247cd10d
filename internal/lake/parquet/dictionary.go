package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// A dictionary of texts is given up past so many entries when more than half
// of the values were new, and past so many bytes.
const (
	tryEntries         = 2048
	maxDictionaryBytes = 1 << 20
)

// dictionary numbers texts in the order of their first appearance.
type dictionary struct {
	// body is the dictionary page: every entry after its length.
	body []byte
	// entries says where in body each entry's text begins and ends.
	entries []textEntry
	// slots is an open-addressed table, a power of two long; zero is free.
	slots []slot
}

type textEntry struct{ from, to uint32 }

type slot struct {
	tag   uint32 // high bits of the hash
	entry uint32 // number of the entry, from 1
}

// seed differs from process to process, which nothing in the file shows.
var seed = maphash.MakeSeed()

func (d *dictionary) reset() {
	d.body, d.entries = d.body[:0], d.entries[:0]
	if d.slots == nil {
		d.slots = make([]slot, 4*tryEntries)
	}
	clear(d.slots)
}

func (d *dictionary) text(i int) []byte { return d.body[d.entries[i].from:d.entries[i].to] }

// useless reports whether the dictionary is better given up after so many values.
func (d *dictionary) useless(values int) bool {
	return len(d.entries) > tryEntries && 2*len(d.entries) > values || len(d.body) > maxDictionaryBytes
}

// index is the number of a text, which becomes an entry where it is new.
func (d *dictionary) index(text []byte) uint32 {
	hash := maphash.Bytes(seed, text)
	mask := uint64(len(d.slots) - 1)
	tag := uint32(hash >> 32)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := d.slots[at]
		if s.entry == 0 {
			return d.add(text, at, tag)
		}
		if s.tag == tag && bytes.Equal(d.text(int(s.entry-1)), text) {
			return s.entry - 1
		}
	}
}

func (d *dictionary) add(text []byte, at uint64, tag uint32) uint32 {
	d.body = binary.LittleEndian.AppendUint32(d.body, uint32(len(text)))
	from := len(d.body)
	d.body = append(d.body, text...)
	d.entries = append(d.entries, textEntry{uint32(from), uint32(len(d.body))})
	n := uint32(len(d.entries))
	d.slots[at] = slot{tag: tag, entry: n}
	if 2*len(d.entries) > len(d.slots) {
		d.grow()
	}
	return n - 1
}

func (d *dictionary) grow() {
	d.slots = make([]slot, 2*len(d.slots))
	mask := uint64(len(d.slots) - 1)
	for i := range d.entries {
		hash := maphash.Bytes(seed, d.text(i))
		at := hash & mask
		for d.slots[at].entry != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = slot{tag: uint32(hash >> 32), entry: uint32(i + 1)}
	}
}

package sheet

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf16"
)

var le = binary.LittleEndian

// record is a record of BIFF8 with its data put together: numbers of the width of their types, and bytes.
func record(id uint16, parts ...any) []byte {
	data := packed(parts...)
	return append(le.AppendUint16(le.AppendUint16(nil, id), uint16(len(data))), data...)
}

func packed(parts ...any) (data []byte) {
	for _, part := range parts {
		switch p := part.(type) {
		case byte:
			data = append(data, p)
		case uint16:
			data = le.AppendUint16(data, p)
		case uint32:
			data = le.AppendUint32(data, p)
		case float64:
			data = le.AppendUint64(data, math.Float64bits(p))
		case string:
			data = append(data, p...)
		case []byte:
			data = append(data, p...)
		}
	}
	return data
}

// wide is a text in UTF-16.
func wide(text string) (data []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		data = le.AppendUint16(data, unit)
	}
	return data
}

// at is the place of a cell and its format.
func at(row, column, xf uint16) []byte { return packed(row, column, xf) }

// xlsSheet is a sheet of a workbook that is made.
type xlsSheet struct {
	name         string
	hidden, kind byte
	records      []byte
}

// xlsStream is the stream of a workbook: what stands before the sheets, and the sheets.
func xlsStream(globals []byte, sheets ...xlsSheet) []byte {
	begin := record(recordBOF, uint16(biff8), uint16(5), "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	length := len(begin) + len(globals) + 4
	for _, s := range sheets {
		length += 4 + 8 + len(s.name)
	}
	var bound, bodies []byte
	for _, s := range sheets {
		bound = append(bound, record(recordBoundSheet, uint32(length+len(bodies)), s.hidden, s.kind, byte(len(s.name)), byte(0), s.name)...)
		bodies = slices.Concat(bodies, record(recordBOF, uint16(biff8), uint16(0x10)), s.records, record(recordEOF))
	}
	return slices.Concat(begin, globals, bound, record(recordEOF), bodies)
}

// compoundFile is a compound file with one stream, in small sectors where it is short.
func compoundFile(name string, data []byte) []byte {
	const sector = 512
	pad := func(p []byte, to int) []byte { return append(p, make([]byte, (to-len(p)%to)%to)...) }
	size, small := len(data), len(data) < 4096
	data = pad(slices.Clone(data), sector)
	count := len(data) / sector
	var next []uint32
	chain := func(n int) (start uint32) {
		start = uint32(len(next))
		for i := range n {
			next = append(next, start+uint32(i)+1)
		}
		next[len(next)-1] = endOfChain
		return start
	}
	stream := chain(count)
	directory := chain(1)
	smallTable := uint32(endOfChain)
	var smallNext []byte
	if small {
		smallTable = chain(1)
		n := (size + 63) / 64
		for i := range n - 1 {
			smallNext = le.AppendUint32(smallNext, uint32(i+1))
		}
		smallNext = append(smallNext, packed(uint32(endOfChain))...)
		for len(smallNext) < sector {
			smallNext = append(smallNext, 0xff)
		}
	}
	tables := (len(next) + 129) / 127
	table := uint32(len(next))
	for range tables {
		next = append(next, 0xfffffffd)
	}
	entry := func(name string, kind byte, child, start uint32, size int) []byte {
		e := make([]byte, 128)
		copy(e, wide(name))
		le.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66] = kind
		le.PutUint32(e[68:], noEntry)
		le.PutUint32(e[72:], noEntry)
		le.PutUint32(e[76:], child)
		le.PutUint32(e[116:], start)
		le.PutUint32(e[120:], uint32(size))
		return e
	}
	root, first := entry("Root Entry", entryRoot, 1, endOfChain, 0), stream
	if small {
		root, first = entry("Root Entry", entryRoot, 1, stream, len(data)), 0
	}
	head := make([]byte, sector)
	copy(head, compoundMark)
	copy(head[24:], packed(uint16(0x3e), uint16(3), uint16(0xfffe), uint16(9), uint16(6)))
	copy(head[44:], packed(uint32(tables), directory, uint32(0), uint32(4096), smallTable, uint32(1), uint32(endOfChain), uint32(0)))
	for i := range 109 {
		le.PutUint32(head[76+4*i:], noEntry)
		if i < tables {
			le.PutUint32(head[76+4*i:], table+uint32(i))
		}
	}
	var fat []byte
	for _, n := range next {
		fat = le.AppendUint32(fat, n)
	}
	for len(fat)%sector != 0 {
		fat = append(fat, 0xff)
	}
	return slices.Concat(head, data, pad(slices.Concat(root, entry(name, entryStream, noEntry, first, size)), sector), smallNext, fat)
}

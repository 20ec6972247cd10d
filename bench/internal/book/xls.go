package book

import (
	"bufio"
	"math"
	"unicode/utf16"
)

// appendRecord appends a record of BIFF8.
func appendRecord(to []byte, id uint16, data []byte) []byte {
	return append(le.AppendUint16(le.AppendUint16(to, id), uint16(len(data))), data...)
}

// MaxXLSRows is how many rows a sheet of this format has room for, without the names.
const MaxXLSRows = 1<<16 - 1

func writeXLS(out *bufio.Writer, rows int) error {
	stream := appendRecord(nil, 0x0809, append([]byte{0, 6, 5, 0}, make([]byte, 12)...))
	for _, format := range []uint16{0, 14, 10} {
		xf := make([]byte, 20)
		le.PutUint16(xf[2:], format)
		stream = appendRecord(stream, 0x00e0, xf)
	}
	stream = appendShared(stream)
	// What stands before the sheet ends with where the sheet begins and with the end itself.
	start := len(stream) + 4 + 12 + 4
	bound := append(le.AppendUint32(nil, uint32(start)), 0, 0, 4, 0, 'D', 'a', 't', 'a')
	stream = appendRecord(appendRecord(stream, 0x0085, bound), 0x000a, nil)
	stream = appendRecord(stream, 0x0809, append([]byte{0, 6, 0x10, 0}, make([]byte, 12)...))
	for i := range Columns {
		stream = appendXLSCell(stream, 0, i, cell{kind: text, text: i - Columns})
	}
	for i := range min(rows, MaxXLSRows) {
		for column, c := range row(i) {
			stream = appendXLSCell(stream, i+1, column, c)
		}
	}
	_, err := out.Write(compoundFile(appendRecord(stream, 0x000a, nil)))
	return err
}

// appendShared appends the shared texts, none of which goes on in another record.
func appendShared(to []byte) []byte {
	const most = 8224
	data := le.AppendUint32(le.AppendUint32(nil, distinct+Columns), distinct+Columns)
	id := uint16(0x00fc)
	texts(func(text string) {
		units := utf16.Encode([]rune(text))
		if len(data)+3+2*len(units) > most {
			to = appendRecord(to, id, data)
			id, data = 0x003c, nil
		}
		data = appendWide(append(le.AppendUint16(data, uint16(len(units))), 1), text)
	})
	return appendRecord(to, id, data)
}

func appendXLSCell(to []byte, row, column int, c cell) []byte {
	style := uint16(0)
	if c.kind == date || c.kind == percent {
		style = uint16(c.kind)
	}
	data := le.AppendUint16(le.AppendUint16(le.AppendUint16(nil, uint16(row)), uint16(column)), style)
	switch {
	case c.kind == text:
		return appendRecord(to, 0x00fd, le.AppendUint32(data, uint32(c.text+Columns)))
	case c.kind == boolean:
		return appendRecord(to, 0x0205, append(data, byte(c.number), 0))
	case c.number == math.Trunc(c.number):
		return appendRecord(to, 0x027e, le.AppendUint32(data, uint32(int32(c.number))<<2|2))
	}
	return appendRecord(to, 0x0203, le.AppendUint64(data, math.Float64bits(c.number)))
}

// compoundFile is a compound file whose only stream is that of the workbook. The sectors have 4 KB, so that the
// header has room for the list of tables.
func compoundFile(data []byte) []byte {
	const sector, endOfChain, none = 4096, 0xfffffffe, 0xffffffff
	size := len(data)
	data = append(data, make([]byte, (sector-size%sector)%sector)...)
	count := len(data) / sector
	tables := (count + 1 + sector/4) / (sector/4 - 1)
	head := make([]byte, sector)
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for at, value := range map[int]uint16{24: 0x3e, 26: 4, 28: 0xfffe, 30: 12, 32: 6} {
		le.PutUint16(head[at:], value)
	}
	for at, value := range map[int]uint32{44: uint32(tables), 48: uint32(count), 56: 4096, 60: endOfChain, 68: endOfChain} {
		le.PutUint32(head[at:], value)
	}
	for i := range 109 {
		le.PutUint32(head[76+4*i:], none)
		if i < tables {
			le.PutUint32(head[76+4*i:], uint32(count+1+i))
		}
	}
	var next []byte
	for i := range count {
		following := uint32(i + 1)
		if i == count-1 {
			following = endOfChain
		}
		next = le.AppendUint32(next, following)
	}
	next = le.AppendUint32(next, endOfChain) // the directory
	for range tables {
		next = le.AppendUint32(next, 0xfffffffd)
	}
	for len(next) < tables*sector {
		next = le.AppendUint32(next, none)
	}
	entry := func(name string, kind byte, child, start uint32, size int) []byte {
		e := make([]byte, 128)
		copy(e, appendWide(nil, name))
		le.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66] = kind
		for at, value := range map[int]uint32{68: none, 72: none, 76: child, 116: start, 120: uint32(size)} {
			le.PutUint32(e[at:], value)
		}
		return e
	}
	directory := make([]byte, sector)
	copy(directory, entry("Root Entry", 5, 1, endOfChain, 0))
	copy(directory[128:], entry("Workbook", 2, none, 0, size))
	return append(append(append(head, data...), directory...), next...)
}

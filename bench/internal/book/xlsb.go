package book

import (
	"bufio"
	"encoding/binary"
	"math"
	"unicode/utf16"
)

var le = binary.LittleEndian

// appendBinary appends a record of a binary part.
func appendBinary(to []byte, id int, data []byte) []byte {
	if id > 127 {
		to = append(to, byte(id&0x7f|0x80), byte(id>>7))
	} else {
		to = append(to, byte(id))
	}
	size := len(data)
	for size > 127 {
		to = append(to, byte(size&0x7f|0x80))
		size >>= 7
	}
	return append(append(to, byte(size)), data...)
}

// appendWide appends a text in UTF-16.
func appendWide(to []byte, text string) []byte {
	for _, unit := range utf16.Encode([]rune(text)) {
		to = le.AppendUint16(to, unit)
	}
	return to
}

func appendCounted(to []byte, text string) []byte {
	return appendWide(le.AppendUint32(to, uint32(len(utf16.Encode([]rune(text))))), text)
}

func writeXLSB(out *bufio.Writer, rows int) error {
	sheet := appendCounted(appendCounted(make([]byte, 8), "r1"), "Data")
	workbook := appendBinary(appendBinary(nil, 153, make([]byte, 12)), 156, sheet)
	styles := appendBinary(nil, 617, le.AppendUint32(nil, 3))
	for _, format := range []uint16{0, 14, 10} {
		xf := make([]byte, 16)
		le.PutUint16(xf[2:], format)
		styles = appendBinary(styles, 47, xf)
	}
	known := append(packageParts(".bin"), [2]string{"xl/workbook.bin", string(workbook)}, [2]string{"xl/styles.bin", string(appendBinary(styles, 618, nil))})
	return newParts(out).all(known, map[string]func(*bufio.Writer){
		"xl/sharedStrings.bin": func(w *bufio.Writer) {
			texts(func(text string) { w.Write(appendBinary(nil, 19, appendCounted([]byte{0}, text))) })
		},
		"xl/worksheets/sheet1.bin": func(w *bufio.Writer) {
			line := appendBinary(nil, 145, nil)
			line = appendBinary(line, 0, make([]byte, 25))
			for i := range Columns {
				line = appendBinaryCell(line, i, cell{kind: text, text: i - Columns})
			}
			w.Write(line)
			for i := range rows {
				head := make([]byte, 25)
				le.PutUint32(head, uint32(i+1))
				line = appendBinary(line[:0], 0, head)
				for column, c := range row(i) {
					line = appendBinaryCell(line, column, c)
				}
				w.Write(line)
			}
			w.Write(appendBinary(nil, 146, nil))
		},
	})
}

func appendBinaryCell(to []byte, column int, c cell) []byte {
	style := uint32(0)
	if c.kind == date || c.kind == percent {
		style = uint32(c.kind)
	}
	data := le.AppendUint32(le.AppendUint32(nil, uint32(column)), style)
	switch {
	case c.kind == text:
		return appendBinary(to, 7, le.AppendUint32(data, uint32(c.text+Columns)))
	case c.kind == boolean:
		return appendBinary(to, 4, append(data, byte(c.number)))
	case c.number == math.Trunc(c.number):
		return appendBinary(to, 2, le.AppendUint32(data, uint32(int32(c.number))<<2|2))
	}
	return appendBinary(to, 5, le.AppendUint64(data, math.Float64bits(c.number)))
}

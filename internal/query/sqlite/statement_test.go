package sqlite

import (
	"encoding/binary"
	"math"
	"testing"
)

// appendRow writes cells as ReadRow reads them.
func appendRow(to []byte, cells ...Cell) []byte {
	for _, c := range cells {
		to = append(to, c.Class)
		switch c.Class {
		case ClassInteger:
			to = binary.NativeEndian.AppendUint64(to, uint64(c.Int))
		case ClassFloat:
			to = binary.NativeEndian.AppendUint64(to, math.Float64bits(c.Float))
		case ClassText, ClassBlob:
			to = append(binary.NativeEndian.AppendUint32(to, uint32(len(c.Text))), c.Text...)
		}
	}
	return to
}

func TestReadRow(t *testing.T) {
	row := appendRow(nil, Cell{Class: ClassInteger, Int: -7}, Cell{Class: ClassNull}, Cell{Class: ClassText, Text: []byte("añ")}, Cell{Class: ClassFloat, Float: 1.5}, Cell{Class: ClassBlob})
	cells := make([]Cell, 5)
	for cut := range row {
		if read, atLeast, err := ReadRow(row[:cut], cells); read != 0 || atLeast <= cut || atLeast > len(row) || err != nil {
			t.Errorf("%d of %d bytes: %d, %d, %v", cut, len(row), read, atLeast, err)
		}
	}
	read, _, err := ReadRow(append(row, 1, 2), cells)
	if read != len(row) || err != nil || cells[0].Value() != int64(-7) || cells[1].Value() != nil || cells[2].Value() != "añ" || cells[3].Value() != 1.5 {
		t.Errorf("%d, %v, %+v", read, err, cells)
	}
	large := binary.NativeEndian.AppendUint32([]byte{ClassText}, MaxCell+1)
	for _, wrong := range [][]byte{{0}, {6}, large} {
		if _, _, err := ReadRow(wrong, cells); err == nil {
			t.Errorf("%v is read", wrong)
		}
	}
}

func FuzzReadRow(f *testing.F) {
	f.Add([]byte{5, 5}, uint8(2))
	f.Add(appendRow(nil, Cell{Class: ClassText, Text: []byte("x")}, Cell{Class: ClassInteger, Int: 1}), uint8(2))
	f.Fuzz(func(t *testing.T, from []byte, columns uint8) {
		cells := make([]Cell, columns)
		read, atLeast, err := ReadRow(from, cells)
		switch {
		case err != nil:
		case read > len(from) || read == 0 && columns > 0 && atLeast <= len(from):
			t.Errorf("%d of %d, at least %d", read, len(from), atLeast)
		case read > 0:
			if again := appendRow(nil, cells...); string(again) != string(from[:read]) {
				// A number has all of its bits in both fields; NaN keeps its own.
				t.Errorf("%x became %x", from[:read], again)
			}
		}
	})
}

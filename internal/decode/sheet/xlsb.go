package sheet

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// xlsbBook is a workbook whose parts are binary. How they name each other is as in [xlsxBook].
type xlsbBook struct{ *xlsxBook }

func openXLSB(ctx context.Context, b xlsbBook, workbook string, others map[string]relation) (book, error) {
	w := &xlsbWorkbook{book: b, others: others}
	if err := b.parts.readBinary(ctx, workbook, maxSmall, w.record); err != nil {
		return nil, err
	}
	if len(b.list) == 0 {
		return nil, input.Refuse("invalid-workbook", "the workbook has no worksheet")
	}
	if err := checkSheets(b.list); err != nil {
		return nil, err
	}
	w.finish()
	for _, r := range others {
		var err error
		switch {
		case strings.HasSuffix(r.kind, "/styles"):
			err = b.readStyles(ctx, r.target)
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			b.strings, err = b.readStrings(ctx, r.target)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, b.eachTable(ctx, b.readTable)
}

// xlsbWorkbook is what is known while the list of sheets is read.
type xlsbWorkbook struct {
	book   xlsbBook
	others map[string]relation
	// position is that of each sheet of the workbook among the worksheets, or -1, self which of the
	// books that formulas name is this one, and locations the sheets that they name.
	position  []int
	self      []bool
	locations [][3]uint32
	names     []xlsName
}

func (w *xlsbWorkbook) record(r *binaryReader) error {
	b := w.book
	switch r.id {
	case brtWorkbook:
		if err := r.need(4); err != nil {
			return err
		}
		b.from1904 = r.data[0]&1 != 0
	case brtSheet:
		return w.sheet(r)
	case brtExternalSelf, brtExternalSame:
		w.self = append(w.self, true)
	case brtExternalSource, brtExternalAddIn:
		w.self = append(w.self, false)
	case brtExternSheet:
		if err := r.need(4); err != nil {
			return err
		}
		for at := 4; at+12 <= len(r.data) && len(w.locations) < maxLocations; at += 12 {
			w.locations = append(w.locations, [3]uint32{uint32(r.uint32(at)), uint32(r.uint32(at + 4)), uint32(r.uint32(at + 8))})
		}
	case brtName:
		return w.name(r)
	}
	return nil
}

func (w *xlsbWorkbook) sheet(r *binaryReader) error {
	if err := r.need(8); err != nil {
		return err
	}
	hidden := r.uint32(0) != 0
	id, at, err := r.text(nil, 8)
	if err != nil {
		return err
	}
	name, _, err := r.text(nil, at)
	if err != nil {
		return err
	}
	to := w.others[string(id)]
	if !strings.HasSuffix(to.kind, "/worksheet") {
		w.position = append(w.position, -1)
		return nil
	}
	b := w.book
	w.position = append(w.position, len(b.list))
	b.list = append(b.list, feedmill.Sheet{Index: len(b.list) + 1, Name: string(name), Hidden: hidden})
	b.paths = append(b.paths, to.target)
	return nil
}

// name reads a name, and keeps the formula for when the sheets are known.
func (w *xlsbWorkbook) name(r *binaryReader) error {
	if err := r.need(9); err != nil {
		return err
	}
	name, at, err := r.text(nil, 9)
	if err != nil || r.uint32(0)&builtinName != 0 || len(w.names) >= maxNames {
		return err
	}
	if err := r.need(at + 4); err != nil {
		return err
	}
	if length := r.uint32(at); length <= 16 && len(r.data) >= at+4+length {
		w.names = append(w.names, xlsName{string(name), append([]byte(nil), r.data[at+4:at+4+length]...)})
	}
	return nil
}

func (w *xlsbWorkbook) finish() {
	for _, n := range w.names {
		if within, ok := w.areaOf(n.formula); ok {
			w.book.add(n.name, within)
		}
	}
}

// areaOf is the range of a formula that is nothing but a range or a cell of a sheet.
func (w *xlsbWorkbook) areaOf(formula []byte) (a area, ok bool) {
	le := binary.LittleEndian
	switch {
	case len(formula) == 15 && formula[0]&0x1f == 0x1b: // an area
		a.firstRow, a.lastRow = int(le.Uint32(formula[3:])), int(le.Uint32(formula[7:]))
		a.firstColumn, a.lastColumn = int(le.Uint16(formula[11:])&maxColumn), int(le.Uint16(formula[13:])&maxColumn)
	case len(formula) == 9 && formula[0]&0x1f == 0x1a: // a cell
		a.firstRow, a.firstColumn = int(le.Uint32(formula[3:])), int(le.Uint16(formula[7:])&maxColumn)
		a.lastRow, a.lastColumn = a.firstRow, a.firstColumn
	default:
		return a, false
	}
	at := int(le.Uint16(formula[1:]))
	if at >= len(w.locations) || a.lastRow < a.firstRow || a.lastRow > maxRow || a.lastColumn < a.firstColumn {
		return a, false
	}
	book, first, last := w.locations[at][0], w.locations[at][1], w.locations[at][2]
	if int64(book) >= int64(len(w.self)) || !w.self[book] || first != last || int64(first) >= int64(len(w.position)) || w.position[first] < 0 {
		return a, false
	}
	a.sheet = w.position[first]
	return a, true
}

// readTable reads where a table is and what it is called.
func (b xlsbBook) readTable(ctx context.Context, sheet int, part string) error {
	return b.parts.readBinary(ctx, part, maxSmall, func(r *binaryReader) error {
		const names = 64 // where they begin
		if r.id != brtBeginTable || len(r.data) < names {
			return nil
		}
		within, ok := r.rectangle(0)
		name, at, err := r.text(nil, names)
		if err != nil {
			return err
		}
		shown, _, err := r.text(nil, at)
		if err != nil {
			return err
		}
		if len(shown) > 0 {
			name = shown
		}
		if within.sheet = sheet; ok && len(name) > 0 {
			b.add(string(name), within)
		}
		return nil
	})
}

// readStyles finds what the numbers of each cell format are.
func (b xlsbBook) readStyles(ctx context.Context, part string) error {
	if !b.parts.has(part) {
		return nil
	}
	custom := make(map[int]numberFormat)
	inside := false
	return b.parts.readBinary(ctx, part, maxSmall, func(r *binaryReader) error {
		switch r.id {
		case brtFormat:
			if err := r.need(2); err != nil {
				return err
			}
			code, _, err := r.text(nil, 2)
			if err != nil {
				return err
			}
			custom[r.uint16(0)] = formatOf(string(code))
		case brtBeginCellXFs, brtEndCellXFs:
			inside = r.id == brtBeginCellXFs
		case brtXF:
			if err := r.need(4); err != nil {
				return err
			}
			if !inside || len(b.formats) >= maxXFs {
				return nil
			}
			format, known := custom[r.uint16(2)]
			if !known {
				format = builtinFormat(r.uint16(2))
			}
			b.formats = append(b.formats, format)
		}
		return nil
	})
}

// readStrings reads the shared texts.
func (b xlsbBook) readStrings(ctx context.Context, part string) (*stringTable, error) {
	t := new(stringTable)
	if !b.parts.has(part) {
		return t, nil
	}
	return t, b.parts.readBinary(ctx, part, maxPart, func(r *binaryReader) (err error) {
		if r.id != brtSharedText {
			return nil
		}
		if t.texts, _, err = r.text(t.texts, 1); err != nil {
			return err
		}
		t.ends = append(t.ends, uint32(len(t.texts)))
		return t.check(b.size)
	})
}

package sheet

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// xlsReader reads the cells of a worksheet.
type xlsReader struct {
	*biffReader
	book *xlsBook
	fn   func(*line) error

	row int // from 0, or -1
	line
	merged *merged
	unseen map[int]bool // rows that are hidden
	// wanted is a cell whose text is in a record of its own behind it.
	wanted struct {
		is          bool
		row, column int
	}
}

// read reads the cells of a sheet twice: first where they stand, because some programs write them in the
// order in which they came to them.
func (b *xlsBook) read(ctx context.Context, sheet int, hidden *merged, fn func(*line) error) ([]area, error) {
	if b.starts[sheet] >= b.data.Size() {
		return nil, input.Refuse("invalid-workbook", "the workbook is truncated; sheet %d starts after its end", sheet+1)
	}
	b.unreadable = 0
	order, err := b.survey(ctx, b.starts[sheet])
	if err != nil {
		return nil, err
	}
	r := &xlsReader{biffReader: newBiffReader(b.data, b.starts[sheet]), book: b, fn: fn, row: -1, merged: hidden, unseen: order.hidden}
	if order.sorted {
		err = eachCell(ctx, r.biffReader, r.record)
	} else {
		err = r.inOrder(ctx, order.places)
	}
	if err == nil {
		err = r.flush()
	}
	return order.merged, err
}

// eachCell gives all records of a sheet to fn but those of charts that are embedded in it.
func eachCell(ctx context.Context, r *biffReader, fn func() error) error {
	depth := 0
	for n := 0; r.next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case r.id == recordBOF:
			depth++
		case r.id == recordEOF:
			if depth--; depth <= 0 {
				return nil
			}
		case depth == 0:
			return r.wrong("a sheet must start with another record")
		case depth == 1:
			if err := fn(); err != nil {
				return err
			}
		}
	}
	if r.err != nil {
		return r.err
	}
	return input.Refuse("invalid-workbook", "the workbook is truncated; a sheet has no end")
}

// cellOrder is where the cells of a sheet stand.
type cellOrder struct {
	sorted bool
	merged []area
	hidden map[int]bool // rows, from 0
	// places are the cells where they are not sorted: the row, the column and the place of the
	// record, in one number that sorts so.
	places []uint64
}

const (
	// maxPlaces is how many cells there can be that are not in order: all that a sheet has room for.
	maxPlaces    = 1 << 24
	placeBits    = 40
	xlsMaxColumn = 1<<8 - 1
)

// survey finds out how the cells are ordered, and which are merged.
func (b *xlsBook) survey(ctx context.Context, start int64) (o cellOrder, err error) {
	o.sorted = true
	r := newBiffReader(b.data, start)
	last := uint64(0)
	note := func() error {
		switch r.id {
		case recordMerged:
			o.merged = appendMerged(o.merged, r.data)
		case recordRow:
			if len(r.data) >= 13 && r.data[12]&0x20 != 0 {
				if o.hidden == nil {
					o.hidden = make(map[int]bool)
				}
				o.hidden[int(binary.LittleEndian.Uint16(r.data))] = true
			}
		case recordFormula, recordMulRK, recordRString, recordLabelSST, recordNumber, recordLabel, recordBoolErr, recordRK:
			if len(r.data) < 6 {
				return r.wrong("the record is too short")
			}
			row, column := binary.LittleEndian.Uint16(r.data), binary.LittleEndian.Uint16(r.data[2:])
			if column > xlsMaxColumn {
				return r.wrong("its column is not valid")
			}
			at := uint64(row)<<8 | uint64(column)
			if o.sorted && at < last {
				o.sorted = false
			}
			last = at
		}
		return nil
	}
	if err = eachCell(ctx, r, note); err != nil || o.sorted {
		return o, err
	}
	r = newBiffReader(b.data, start)
	err = eachCell(ctx, r, func() error {
		switch r.id {
		case recordFormula, recordMulRK, recordRString, recordLabelSST, recordNumber, recordLabel, recordBoolErr, recordRK:
			if len(o.places) == maxPlaces {
				return r.wrong("the sheet has more cells than a sheet can have")
			}
			at := uint64(binary.LittleEndian.Uint16(r.data))<<8 | uint64(binary.LittleEndian.Uint16(r.data[2:]))
			o.places = append(o.places, at<<placeBits|uint64(r.at))
		}
		return nil
	})
	slices.Sort(o.places)
	return o, err
}

// inOrder reads cells by their places.
func (r *xlsReader) inOrder(ctx context.Context, places []uint64) error {
	for i, place := range places {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.biffReader = newBiffReader(r.book.data, int64(place&(1<<placeBits-1)))
		if !r.next() {
			return r.err
		}
		err := r.record()
		for n := 0; err == nil && r.wanted.is && n < 4 && r.next(); n++ { // its text is behind it
			if r.id == recordString || r.id != 0x0221 && r.id != 0x04bc && r.id != 0x0236 && r.id != recordContinue {
				err = r.record()
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func appendMerged(to []area, data []byte) []area {
	le := binary.LittleEndian
	if len(data) < 2 {
		return to
	}
	for data = data[2:]; len(data) >= 8 && len(to) < maxMerged; data = data[8:] {
		to = append(to, area{
			firstRow: int(le.Uint16(data)), lastRow: int(le.Uint16(data[2:])), firstColumn: int(le.Uint16(data[4:])), lastColumn: int(le.Uint16(data[6:])),
		})
	}
	return to
}

// record takes a record of the sheet.
func (r *xlsReader) record() error {
	le := binary.LittleEndian
	if r.wanted.is && r.id == recordString {
		r.wanted.is = false
		return r.addText(r.wanted.row, r.wanted.column, 0)
	}
	shortest := 0
	switch r.id {
	case recordNumber, recordFormula:
		shortest = 14
	case recordRK, recordLabelSST:
		shortest = 10
	case recordMulRK:
		shortest = 12
	case recordBoolErr:
		shortest = 8
	case recordLabel, recordRString:
		shortest = 9
	default:
		return nil
	}
	r.wanted.is = false
	if len(r.data) < shortest {
		return r.wrong("the record is too short")
	}
	row, column, xf := int(le.Uint16(r.data)), int(le.Uint16(r.data[2:])), le.Uint16(r.data[4:])
	switch r.id {
	case recordNumber:
		return r.addNumber(row, column, xf, floatAt(r.data[6:]))
	case recordRK:
		return r.addNumber(row, column, xf, rkNumber(le.Uint32(r.data[6:])))
	case recordMulRK:
		for at := 4; at+8 <= len(r.data); at += 6 {
			if err := r.addNumber(row, column, le.Uint16(r.data[at:]), rkNumber(le.Uint32(r.data[at+2:]))); err != nil {
				return err
			}
			column++
		}
	case recordLabelSST:
		text, ok := r.book.strings.at(int(le.Uint32(r.data[6:])))
		if !ok {
			return r.add(row, column, columnar.CellError, []byte("#REF!")) // a text that the workbook does not have
		}
		return r.add(row, column, columnar.CellString, text)
	case recordBoolErr:
		return r.addBoolErr(row, column, r.data[6], r.data[7] != 0)
	case recordLabel, recordRString:
		return r.addText(row, column, 6)
	case recordFormula:
		return r.addFormula(row, column, xf, r.data[6:14])
	}
	return nil
}

// addFormula adds the value that a formula had when the workbook was saved.
func (r *xlsReader) addFormula(row, column int, xf uint16, value []byte) error {
	if value[6] != 0xff || value[7] != 0xff {
		return r.addNumber(row, column, xf, floatAt(value))
	}
	switch value[0] {
	case 0:
		r.wanted.is, r.wanted.row, r.wanted.column = true, row, column
		return nil
	case 1:
		return r.addBoolErr(row, column, value[2], false)
	case 2:
		return r.addBoolErr(row, column, value[2], true)
	}
	return r.add(row, column, columnar.CellString, nil)
}

func (r *xlsReader) addBoolErr(row, column int, value byte, isError bool) error {
	switch {
	case isError:
		return r.add(row, column, columnar.CellError, []byte(errorName(value)))
	case value != 0:
		return r.add(row, column, columnar.CellTrue, nil)
	}
	return r.add(row, column, columnar.CellFalse, nil)
}

// errorName is what an error is called that a cell shows.
func errorName(code byte) string {
	switch code {
	case 0x00:
		return "#NULL!"
	case 0x07:
		return "#DIV/0!"
	case 0x0f:
		return "#VALUE!"
	case 0x17:
		return "#REF!"
	case 0x1d:
		return "#NAME?"
	case 0x24:
		return "#NUM!"
	case 0x2b:
		return "#GETTING_DATA"
	}
	return "#N/A"
}

// addText adds a text of the record from a place on.
func (r *xlsReader) addText(row, column, from int) error {
	at, err := r.begin(row, column)
	if err != nil {
		return err
	}
	t, err := r.text(from)
	if err != nil {
		return err
	}
	count, err := t.uint16()
	if err != nil {
		return err
	}
	if count > 0 || len(t.rest) > 0 {
		if r.texts, err = t.characters(r.texts, int(count)); err != nil {
			return err
		}
	}
	return r.keep(column, columnar.CellString, "", at)
}

func (r *xlsReader) addNumber(row, column int, xf uint16, n float64) error {
	at, err := r.begin(row, column)
	if err != nil {
		return err
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		r.texts = append(r.texts, "#NUM!"...)
		return r.keep(column, columnar.CellError, "", at)
	}
	var kind columnar.CellKind
	var unit string
	format := r.book.formatOf(xf)
	if format.unreadable {
		r.book.unreadable++
	}
	r.texts, kind, unit = appendValue(r.texts, n, format, r.book.from1904)
	return r.keep(column, kind, unit, at)
}

func (r *xlsReader) add(row, column int, kind columnar.CellKind, text []byte) error {
	at, err := r.begin(row, column)
	if err != nil {
		return err
	}
	r.texts = append(r.texts, text...)
	return r.keep(column, kind, "", at)
}

// begin begins a cell and returns where its text does. A cell of another row ends the one before.
func (r *xlsReader) begin(row, column int) (int, error) {
	if column > xlsMaxColumn {
		return 0, r.wrong("its column is not valid")
	}
	if row != r.row {
		if err := r.flush(); err != nil {
			return 0, err
		}
		r.row = row
		if err := r.merged.row(row); err != nil {
			return 0, err
		}
	}
	return len(r.texts), nil
}

// keep keeps a cell whose text is there. Of two in one place the last counts.
func (r *xlsReader) keep(column int, kind columnar.CellKind, unit string, start int) error {
	if len(r.texts) > input.MaxRecordBytes {
		return r.wrong("the text in its row is too long")
	}
	if n := len(r.cells); n > 0 && r.cells[n-1].column >= column {
		if r.cells[n-1].column > column {
			return r.wrong("the cell is not after the previous cell of its row")
		}
		r.cells = r.cells[:n-1]
	}
	if r.merged.covers(column) {
		return nil
	}
	r.cells = append(r.cells, cell{column: column, kind: kind, unit: unit, start: start, end: len(r.texts)})
	return nil
}

// flush gives the row away.
func (r *xlsReader) flush() error {
	if r.row < 0 || len(r.cells) == 0 {
		r.texts = r.texts[:0]
		return nil
	}
	r.placeTexts()
	r.number, r.hidden = r.row+1, r.unseen[r.row]
	err := r.fn(&r.line)
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	return err
}

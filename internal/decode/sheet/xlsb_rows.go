package sheet

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// xlsbReader reads the rows of a worksheet.
type xlsbReader struct {
	book xlsbBook
	fn   func(*line) error

	inside bool
	row    int // from 0, or -1
	line
	merged *merged
	found  []area
}

func (b xlsbBook) read(ctx context.Context, sheet int, hidden *merged, fn func(*line) error) ([]area, error) {
	r := &xlsbReader{book: b, fn: fn, row: -1, merged: hidden}
	err := b.parts.readBinary(ctx, b.paths[sheet], maxPart, r.record)
	if err == nil {
		err = r.flush()
	}
	return r.found, err
}

func (r *xlsbReader) record(in *binaryReader) error {
	switch in.id {
	case brtBeginSheetData:
		r.inside = true
	case brtEndSheetData:
		r.inside = false
	case brtMerged:
		if err := in.need(16); err != nil {
			return err
		}
		if a, ok := in.rectangle(0); ok && len(r.found) < maxMerged {
			r.found = append(r.found, a)
		}
	case brtRow:
		if !r.inside {
			return nil
		}
		if err := in.need(4); err != nil {
			return err
		}
		return r.begin(in)
	case brtCellRK, brtCellError, brtCellBool, brtCellReal, brtCellText, brtCellShared, brtFormulaText, brtFormulaNumber, brtFormulaBool, brtFormulaError, brtCellRich:
		if !r.inside {
			return nil
		}
		return r.cell(in)
	}
	return nil
}

// begin begins a row.
func (r *xlsbReader) begin(in *binaryReader) error {
	if err := r.flush(); err != nil {
		return err
	}
	row := in.uint32(0)
	if row <= r.row || row > maxRow {
		return in.wrong("the row number must be greater than that of the previous row; the maximum is 1048575")
	}
	r.row = row
	r.hidden = len(in.data) > 11 && in.data[11]&0x10 != 0
	return r.merged.row(row)
}

func (r *xlsbReader) flush() error {
	if r.row < 0 || len(r.cells) == 0 {
		r.texts = r.texts[:0]
		return nil
	}
	r.placeTexts()
	r.line.number = r.row + 1
	err := r.fn(&r.line)
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	return err
}

// cell takes a cell: its column, its format and its value.
func (r *xlsbReader) cell(in *binaryReader) error {
	shortest := 9
	switch in.id {
	case brtCellRK, brtCellShared, brtCellText, brtFormulaText:
		shortest = 12
	case brtCellReal, brtFormulaNumber:
		shortest = 16
	}
	if err := in.need(shortest); err != nil {
		return err
	}
	column := in.uint32(0)
	if n := len(r.cells); r.row < 0 || column > maxColumn || n > 0 && column <= r.cells[n-1].column {
		return in.wrong("the cell is not after the previous cell of its row")
	}
	style := in.uint32(4) & 0xffffff
	start := len(r.texts)
	kind, unit := columnar.CellString, ""
	var err error
	switch in.id {
	case brtCellRK:
		kind, unit = r.number(rkNumber(binary.LittleEndian.Uint32(in.data[8:])), style)
	case brtCellReal, brtFormulaNumber:
		kind, unit = r.number(floatAt(in.data[8:]), style)
	case brtCellError, brtFormulaError:
		kind, r.texts = columnar.CellError, append(r.texts, errorName(in.data[8])...)
	case brtCellBool, brtFormulaBool:
		if kind = columnar.CellFalse; in.data[8] != 0 {
			kind = columnar.CellTrue
		}
	case brtCellShared:
		text, ok := r.book.strings.at(in.uint32(8))
		if !ok {
			kind, text = columnar.CellError, []byte("#REF!") // a text that the workbook does not have
		}
		r.texts = append(r.texts, text...)
	case brtCellText, brtFormulaText:
		r.texts, _, err = in.text(r.texts, 8)
	case brtCellRich:
		r.texts, _, err = in.text(r.texts, 9)
	}
	if err != nil {
		return err
	}
	if len(r.texts) > input.MaxRecordBytes {
		return in.wrong("the text in its row is too long")
	}
	if r.merged.covers(column) {
		return nil
	}
	r.cells = append(r.cells, cell{column: column, kind: kind, unit: unit, start: start, end: len(r.texts)})
	return nil
}

func (r *xlsbReader) number(n float64, style int) (kind columnar.CellKind, unit string) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		r.texts = append(r.texts, "#NUM!"...)
		return columnar.CellError, ""
	}
	r.texts, kind, unit = appendValue(r.texts, n, r.book.formatOf(style), r.book.from1904)
	return kind, unit
}

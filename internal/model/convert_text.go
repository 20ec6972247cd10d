package model

import (
	"bytes"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/jstext"
)

// room is how many bytes the texts of a column take, judged by some of them.
func (c *converter) room() int {
	const samples = 128
	rows, sum := c.cells.Rows, 0
	if c.index < 0 || rows == 0 {
		return 0
	}
	step := max(1, rows/samples)
	for row := 0; row < rows; row += step {
		start, end := c.cells.Cell[row*c.cells.Columns+c.index].Range()
		sum += int(end - start)
	}
	return sum*step + sum*step/8 + 64
}

// texts fills a column of text, or of JSON texts.
func (c *converter) texts(json bool) bool {
	at, stride := c.index, c.cells.Columns
	data, out, offsets := c.cells.Data, c.out.Bytes, append(c.out.Offsets, 0)
	for row := range c.cells.Rows {
		cell := columnar.Cell(0)
		if c.index >= 0 {
			cell = c.cells.Cell[at]
			at += stride
		}
		switch kind := cell.Kind(); {
		case isNull(cell):
			c.valid.null(row, c.cells.Rows)
		case json:
			out = appendJSON(out, c.cells, cell)
		case c.unwrap && isWrapped(c.cells.Text(cell)):
			text := c.cells.Text(cell)
			out = append(out, bytes.ReplaceAll(text[2:len(text)-1], []byte(`""`), []byte(`"`))...)
		case kind == columnar.CellTrue || kind == columnar.CellFalse:
			out = append(out, textOf(c.cells, cell)...)
		default:
			s, e := cell.Range()
			start, end := int(s), int(e)
			if n := len(out); end-start <= 16 && start+16 <= len(data) && n+16 <= cap(out) {
				// Sixteen bytes at once are faster than a few.
				*(*[16]byte)(out[n : n+16]) = *(*[16]byte)(data[start : start+16])
				out = out[:n+end-start]
			} else {
				out = append(out, data[start:end]...)
			}
		}
		offsets = append(offsets, uint32(len(out)))
	}
	c.out.Bytes, c.out.Offsets = out, offsets
	c.out.Valid = c.valid.bits()
	return true
}

// textOf is a cell as text.
func textOf(cells *columnar.Cells, cell columnar.Cell) []byte {
	switch cell.Kind() {
	case columnar.CellTrue:
		return []byte("true")
	case columnar.CellFalse:
		return []byte("false")
	}
	return cells.Text(cell)
}

// appendJSON appends a cell as JSON text, an error by its name.
func appendJSON(out []byte, cells *columnar.Cells, cell columnar.Cell) []byte {
	switch cell.Kind() {
	case columnar.CellPlain, columnar.CellQuoted, columnar.CellString, columnar.CellDate, columnar.CellToken, columnar.CellError:
		return jstext.AppendString(out, strings.ToValidUTF8(string(cells.Text(cell)), "\ufffd"))
	}
	return append(out, textOf(cells, cell)...)
}

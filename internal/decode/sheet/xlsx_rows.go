package sheet

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// xlsxReader reads the rows of a worksheet.
type xlsxReader struct {
	*xml.Reader
	book *xlsxBook
	fn   func(*line) error

	row int
	line
	merged *merged
}

func (b *xlsxBook) read(ctx context.Context, sheet int, hidden *merged, fn func(*line) error) (areas []area, err error) {
	err = b.parts.read(ctx, b.paths[sheet], maxPart, func(x *xml.Reader) error {
		r := &xlsxReader{Reader: x, book: b, fn: fn, merged: hidden}
		return elements(x, func(local string) error {
			switch local {
			case "row":
				return r.readRow()
			case "mergeCell":
				if a, err := parseRange(string(attribute(x, "ref"))); err == nil && len(areas) < maxMerged {
					areas = append(areas, a)
				}
			}
			return nil
		})
	})
	return areas, err
}

// readRow reads a row whose tag was read. One that does not say its number follows the last.
func (r *xlsxReader) readRow() error {
	number := r.row + 1
	if text := attribute(r.Reader, "r"); text != nil {
		n, err := strconv.Atoi(string(text))
		if err != nil || n <= r.row || n > maxRow+1 {
			return r.Fault("the row number must be greater than that of the previous row; the maximum is " + strconv.Itoa(maxRow+1))
		}
		number = n
	}
	r.row, r.cells, r.texts = number, r.cells[:0], r.texts[:0]
	hidden := isTrue(attribute(r.Reader, "hidden"))
	if err := r.merged.row(number - 1); err != nil {
		return err
	}
	column := 0
	for inside := r.Depth(); r.Depth() >= inside; {
		column = r.usualCells(column)
		kind, err := r.Next()
		if err != nil {
			return noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		if r.Name().Local != "c" {
			if err := r.Skip(); err != nil {
				return err
			}
			continue
		}
		if column, err = r.readCell(column); err != nil {
			return err
		}
	}
	r.placeTexts()
	r.number, r.hidden = number, hidden
	return r.fn(&r.line)
}

// readCell reads a cell whose tag was read and that stands in a column unless it says otherwise. It
// returns the column behind it.
func (r *xlsxReader) readCell(column int) (int, error) {
	var typ byte
	style := 0
	for _, a := range r.Attributes() {
		switch a.Name.Local {
		case "r":
			row, at, ok := parseReference(a.Value)
			if !ok || row+1 != r.row || at < column {
				return 0, r.Fault("the cell is not after the previous cell of its row")
			}
			column = at
		case "t":
			typ = typeOf(a.Value)
		case "s":
			style, _ = strconv.Atoi(string(a.Value)) // a format that is none is none
		}
	}
	if column > maxColumn {
		return 0, r.Fault("the row has more cells than a sheet can have")
	}
	start := len(r.texts)
	found := false
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return 0, noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		switch r.Name().Local {
		case "v":
			r.texts, err = appendText(r.texts[:start], r.Reader)
			found = true
		case "is":
			r.texts, err = appendRich(r.texts[:start], r.Reader)
			found = true
		default:
			err = r.Skip()
		}
		if err != nil {
			return 0, err
		}
	}
	if found && !r.merged.covers(column) {
		r.add(column, typ, style, start)
	}
	return column + 1, checkRow(r.Reader, r.texts)
}

// checkRow refuses a row whose texts are too long together.
func checkRow(r *xml.Reader, texts []byte) error {
	if len(texts) > input.MaxRecordBytes {
		return r.Fault("a row has more than " + strconv.Itoa(input.MaxRecordBytes) + " bytes of text, the maximum")
	}
	return nil
}

// The types of cells.
const (
	typeNumber byte = iota
	typeShared
	typeText
	typeFormulaText
	typeBoolean
	typeError
	typeDate
)

func typeOf(text []byte) byte {
	switch string(text) {
	case "s":
		return typeShared
	case "inlineStr":
		return typeText
	case "str":
		return typeFormulaText
	case "b":
		return typeBoolean
	case "e":
		return typeError
	case "d":
		return typeDate
	}
	return typeNumber
}

// add adds a cell whose text begins at a place.
func (r *xlsxReader) add(column int, typ byte, style, start int) {
	text := r.texts[start:]
	kind := columnar.CellString
	unit := ""
	switch typ {
	case typeShared:
		i, known := parseIndex(text)
		shared, ok := r.book.strings.at(i)
		if !known || !ok {
			kind, shared = columnar.CellError, []byte("#REF!") // a text that the workbook does not have
		}
		r.texts = r.texts[:start]
		r.cells = append(r.cells, cell{column: column, kind: kind, text: shared, start: elsewhere})
		return
	case typeFormulaText:
		r.texts = unescape(r.texts, start)
	case typeBoolean:
		kind = columnar.CellFalse
		if isTrue(bytes.TrimSpace(text)) {
			kind = columnar.CellTrue
		}
		r.texts = r.texts[:start]
	case typeError:
		kind = columnar.CellError
	case typeDate:
		kind = columnar.CellDate
	case typeNumber:
		format := r.book.formatOf(style)
		short := (format.kind == kindNumber || format.kind == kindPercent) && isShortest(text)
		if short && format.kind == kindNumber {
			kind, unit = columnar.CellNumber, format.unit
			break
		}
		if short {
			var room [16 + 1]byte // a sign, a point and 15 digits
			r.texts, kind = appendShortPercent(r.texts[:start], append(room[:0], text...)), columnar.CellPlain
			break
		}
		n, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
		if err == nil && r.book.exported && format.kind == kindDateTime && hasMicroseconds(n) {
			r.texts, kind = appendExportedTime(r.texts[:start], n)
		} else if err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			r.texts, kind, unit = appendValue(r.texts[:start], n, format, r.book.from1904)
		} else if len(bytes.TrimSpace(text)) == 0 {
			r.texts, kind = r.texts[:start], columnar.CellMissing
		}
	}
	r.cells = append(r.cells, cell{column: column, kind: kind, unit: unit, start: start, end: len(r.texts)})
}

// parseIndex is [strconv.Atoi], and fast with what is nothing but a few digits.
func parseIndex(text []byte) (n int, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<40 {
			n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
			return n, err == nil
		}
		n = n*10 + int(c-'0')
	}
	return n, len(text) > 0
}

// formatOf is the number format of a cell format.
func (b *xlsxBook) formatOf(style int) numberFormat {
	if style < 0 || style >= len(b.formats) {
		return numberFormat{}
	}
	return b.formats[style]
}

// appendValue appends a number as what it is, and returns its unit, too.
func appendValue(to []byte, n float64, format numberFormat, from1904 bool) (text []byte, kind columnar.CellKind, unit string) {
	switch format.kind {
	case kindNumber:
		return appendNumber(to, n), columnar.CellNumber, format.unit
	case kindPercent:
		return appendPercent(to, n), columnar.CellPlain, ""
	case kindDuration:
		if math.Abs(n) < maxDays {
			return appendDuration(to, n), columnar.CellString, format.unit
		}
		return appendNumber(to, n), columnar.CellNumber, ""
	}
	text, kind = appendSerial(to, n, format.kind, from1904)
	return text, kind, ""
}

package sheet

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

func (b *xmlBook) read(ctx context.Context, sheet int, _ *merged, fn func(*line) error) ([]area, error) {
	x := b.reader(ctx)
	at := -1
	return nil, elements(x, func(local string) error {
		switch depth := x.Depth(); {
		case depth == 2 && local == "Worksheet":
			at++
		case depth == 3 && local == "Table" && at == sheet:
			return (&xmlBookReader{Reader: x, book: b, fn: fn}).readTable()
		case depth == 3:
			return x.Skip()
		}
		return nil
	})
}

// xmlBookReader reads the rows of a sheet.
type xmlBookReader struct {
	*xml.Reader
	book *xmlBook
	fn   func(*line) error

	row int
	line
	// columns are the styles of the columns, where they have any.
	columns []string
}

// readTable reads the columns and rows of a sheet.
func (r *xmlBookReader) readTable() error {
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		switch r.Name().Local {
		case "Column":
			err = r.readColumn()
		case "Row":
			err = r.readRow()
		default:
			err = r.Skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// number is an attribute of the element that starts, or otherwise where it has none.
func (r *xmlBookReader) number(local string, otherwise, least, most int) (int, error) {
	text := attribute(r.Reader, local)
	if text == nil {
		return otherwise, nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < least || n > most {
		return 0, r.Fault(local + " must be a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return n, nil
}

// readColumn reads the style of a column, or of several.
func (r *xmlBookReader) readColumn() error {
	index, err := r.number("Index", len(r.columns)+1, len(r.columns)+1, maxColumn+1)
	if err != nil {
		return err
	}
	span, err := r.number("Span", 0, 0, maxColumn)
	if err != nil {
		return err
	}
	style := string(attribute(r.Reader, "StyleID"))
	for len(r.columns) < min(index+span, maxColumn+1) {
		if len(r.columns) < index-1 {
			r.columns = append(r.columns, "")
			continue
		}
		r.columns = append(r.columns, style)
	}
	return r.Skip()
}

// readRow reads a row whose tag was read. One that does not give its number follows the last.
func (r *xmlBookReader) readRow() error {
	number, err := r.number("Index", r.row+1, r.row+1, maxRow+1)
	if err != nil {
		return err
	}
	span, err := r.number("Span", 0, 0, maxRow) // rows without cells that follow
	if err != nil {
		return err
	}
	hidden, style := isTrue(attribute(r.Reader, "Hidden")), string(attribute(r.Reader, "StyleID"))
	if number > maxRow+1 {
		return r.Fault("the sheet has more than " + strconv.Itoa(maxRow+1) + " rows, the maximum")
	}
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	column := 0
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		if r.Name().Local != "Cell" {
			if err := r.Skip(); err != nil {
				return err
			}
			continue
		}
		if column, err = r.readCell(column, style); err != nil {
			return err
		}
	}
	r.row = number + span
	if len(r.cells) == 0 {
		return nil
	}
	r.placeTexts()
	r.line.number, r.hidden = number, hidden
	return r.fn(&r.line)
}

// readCell reads a cell whose tag was read and that is in a column unless it gives another. It returns the column behind it, and
// behind those that it is merged with.
func (r *xmlBookReader) readCell(column int, style string) (int, error) {
	index, err := r.number("Index", column+1, column+1, maxColumn+1)
	if err != nil {
		return 0, err
	}
	across, err := r.number("MergeAcross", 0, 0, maxColumn)
	if err != nil {
		return 0, err
	}
	if index > maxColumn+1 {
		return 0, r.Fault("the row has more cells than a sheet can have")
	}
	column = index - 1
	if own := attribute(r.Reader, "StyleID"); own != nil {
		style = string(own)
	} else if style == "" && column < len(r.columns) {
		style = r.columns[column]
	}
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return 0, noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		if r.Name().Local != "Data" {
			if err := r.Skip(); err != nil {
				return 0, err
			}
			continue
		}
		typ, start := string(attribute(r.Reader, "Type")), len(r.texts)
		r.DropBlank = false // text of several formats has its spaces between their elements
		r.texts, err = appendText(r.texts, r.Reader)
		r.DropBlank = true
		if err != nil {
			return 0, err
		}
		r.add(column, typ, r.book.formats[style], start)
	}
	return column + 1 + across, checkRow(r.Reader, r.texts)
}

// add adds a cell whose text begins at a place.
func (r *xmlBookReader) add(column int, typ string, format numberFormat, start int) {
	text := r.texts[start:]
	kind, unit := columnar.CellString, ""
	switch typ {
	case "Boolean":
		kind = columnar.CellFalse
		if isTrue(bytes.TrimSpace(text)) {
			kind = columnar.CellTrue
		}
		r.texts = r.texts[:start]
	case "Error":
		kind = columnar.CellError
	case "DateTime":
		r.texts, kind, unit = appendDateTime(r.texts[:start], string(bytes.TrimSpace(text)), format, r.book.from1904)
	case "Number":
		n, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
		if err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			r.texts, kind, unit = appendValue(r.texts[:start], n, format, r.book.from1904)
		} else if len(bytes.TrimSpace(text)) == 0 {
			r.texts, kind = r.texts[:start], columnar.CellMissing
		}
	}
	r.cells = append(r.cells, cell{column: column, kind: kind, unit: unit, start: start, end: len(r.texts)})
}

// appendDateTime appends a time such as 2026-11-15T10:20:30.000 as what its format says: a day, a time of day on the day
// before the calendar begins, a duration from there on, or a day and a time. What is not a time stays text.
func appendDateTime(to []byte, text string, format numberFormat, from1904 bool) ([]byte, columnar.CellKind, string) {
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		if elapsed, ok := strings.CutPrefix(text, "1899-12-31T"); ok { // LibreOffice writes 26 hours as 1899-12-31T26:00:00.000
			var hours, minutes int
			var seconds float64
			if n, err := fmt.Sscanf(elapsed, "%d:%d:%f", &hours, &minutes, &seconds); n == 3 && err == nil && hours >= 24 && hours < 24*maxDays {
				return appendDuration(to, (float64(hours)+float64(minutes)/60+seconds/3600)/24), columnar.CellString, unitSeconds
			}
		}
		return append(to, text...), columnar.CellString, ""
	}
	first := time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	if from1904 {
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	since := at.Sub(first)
	switch midnight := at.Equal(at.Truncate(24 * time.Hour)); {
	case format.kind == kindDuration:
		days := since.Hours() / 24
		if days >= 60 && !from1904 {
			days++ // the false leap day of 1900
		}
		return appendDuration(to, days), columnar.CellString, unitSeconds
	case since > -48*time.Hour && since < 24*time.Hour && (format.kind == kindTime || !midnight && !from1904): // some programs begin a day earlier
		return at.AppendFormat(to, clock(at.UnixMilli())), columnar.CellString, ""
	case midnight && format.kind != kindDateTime && format.kind != kindTime:
		return at.AppendFormat(to, time.DateOnly), columnar.CellDate, ""
	}
	return at.AppendFormat(append(at.AppendFormat(to, time.DateOnly), 'T'), clock(at.UnixMilli())), columnar.CellDate, ""
}

package sheet

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// odsReader reads the rows of a sheet.
type odsReader struct {
	*xml.Reader
	fn func(*line) error

	row int
	line
	copied line // of a row that stands there several times
	// paragraphs says that there was one, so that the prefix of their names is known.
	paragraphs bool
	// usual says that there was a cell with a value whose names have the usual prefixes.
	usual bool
	// extended says that the prefix of LibreOffice's own attributes was there.
	extended bool
	// elapsed are the styles whose times are durations, and columns those whose cells have such a
	// style where they say nothing else.
	elapsed map[string]bool
	columns []bool
}

// readTable reads a sheet whose tag was read. Rows may stand in groups.
func (r *odsReader) readTable() error {
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		switch r.Name().Local {
		case "table-row":
			err = r.readRow()
		case "table-column":
			err = r.readColumn()
		case "table-header-rows", "table-rows", "table-row-group", "table-columns", "table-header-columns", "table-column-group":
		default:
			err = r.Skip()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readColumn reads the style of a column, or of several.
func (r *odsReader) readColumn() error {
	times, err := r.repeated("number-columns-repeated", maxColumn+1-len(r.columns))
	if err != nil {
		return err
	}
	elapsed := r.elapsed[string(attribute(r.Reader, "default-cell-style-name"))]
	for range times {
		r.columns = append(r.columns, elapsed)
	}
	return r.Skip()
}

// isElapsed reports whether the time of the cell that starts is a duration.
func (r *odsReader) isElapsed(column int) bool {
	if style := attribute(r.Reader, "style-name"); style != nil {
		return r.elapsed[string(style)]
	}
	return column < len(r.columns) && r.columns[column]
}

// repeated is how often the element that starts stands there.
func (r *odsReader) repeated(local string, most int) (int, error) {
	text := attribute(r.Reader, local)
	if text == nil {
		return 1, nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return 0, r.Fault("the number of repetitions must be a whole number from 1")
	}
	return min(n, most), nil
}

// readRow reads a row whose tag was read.
func (r *odsReader) readRow() error {
	times, err := r.repeated("number-rows-repeated", maxRow+1-r.row)
	if err != nil {
		return err
	}
	r.cells, r.texts = r.cells[:0], r.texts[:0]
	r.hidden = attribute(r.Reader, "visibility") != nil && string(attribute(r.Reader, "visibility")) != "visible"
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
		if local := r.Name().Local; local != "table-cell" && local != "covered-table-cell" {
			if err := r.Skip(); err != nil {
				return err
			}
			continue
		}
		if column, err = r.readCell(column, r.Name().Local == "covered-table-cell"); err != nil {
			return err
		}
	}
	r.placeTexts()
	if len(r.cells) == 0 {
		r.row += times
		return nil
	}
	for i := range times - 1 {
		r.row++
		r.copied.hidden, r.copied.number, r.copied.copies = r.hidden, r.row, 0
		if i == 0 {
			r.copied.copies = times - 1
		}
		r.copied.cells, r.copied.texts = append(r.copied.cells[:0], r.cells...), append(r.copied.texts[:0], r.texts...)
		r.copied.placeTexts()
		if err := r.fn(&r.copied); err != nil {
			return err
		}
	}
	r.row++
	r.line.number = r.row
	return r.fn(&r.line)
}

// readCell reads a cell whose tag was read, and returns the column behind it. A covered one is
// part of the cell that it is merged with.
func (r *odsReader) readCell(column int, covered bool) (int, error) {
	v, err := r.values(maxColumn + 1 - column)
	if err != nil {
		return 0, err
	}
	kind, unit := columnar.CellMissing, ""
	start := len(r.texts)
	isText := false
	switch string(v.kind) {
	case "float", "currency":
		// LibreOffice writes the booleans of other workbooks so.
		switch string(v.formula) {
		case "of:=TRUE()":
			kind = columnar.CellTrue
		case "of:=FALSE()":
			kind = columnar.CellFalse
		default:
			kind = r.number(kindNumber, v.value)
			if kind == columnar.CellNumber && v.currency != nil && columnar.IsCurrency(string(v.currency), true) {
				unit = string(v.currency)
			}
		}
	case "percentage":
		kind = r.number(kindPercent, v.value)
	case "boolean":
		kind = columnar.CellFalse
		if isTrue(v.value) {
			kind = columnar.CellTrue
		}
	case "date":
		kind = columnar.CellDate
		r.texts = append(r.texts, v.value...)
	case "time":
		kind = columnar.CellString
		elapsed := r.isElapsed(column)
		if r.texts, elapsed = appendPeriod(r.texts, v.value, elapsed); elapsed {
			unit = unitSeconds
		}
	case "string":
		kind = columnar.CellString
		if v.value != nil {
			r.texts = append(r.texts, v.value...)
		} else {
			isText = true
		}
	case "error":
		kind = columnar.CellError
	}
	paragraphs, err := r.readParagraphs(isText || kind == columnar.CellError)
	if err != nil {
		return 0, err
	}
	if kind == columnar.CellMissing || covered || isText && paragraphs == 0 {
		r.texts = r.texts[:start]
		return column + v.times, nil
	}
	for i := range v.times {
		r.cells = append(r.cells, cell{column: column + i, kind: kind, unit: unit, start: start, end: len(r.texts)})
	}
	return column + v.times, checkRow(r.Reader, r.texts)
}

// odsValues is what the attributes of a cell say. An error is one by the attribute of LibreOffice, which
// comes beside another type.
type odsValues struct {
	kind, value, formula, currency []byte
	times                          int
}

// values reads the attributes of the cell that starts, which stands there so many times at the most.
func (r *odsReader) values(most int) (v odsValues, err error) {
	v.times = 1
	failed := false
	for _, a := range r.Attributes() {
		switch a.Name.Local {
		case "value-type":
			switch a.Name.Prefix {
			case "office":
				r.usual = r.Name().Prefix == "table"
			case "calcext":
				r.extended = true
			}
			failed = failed || string(a.Value) == "error"
			v.kind = a.Value
		case "value", "boolean-value", "date-value", "time-value", "string-value":
			v.value = a.Value
		case "formula":
			v.formula = a.Value
		case "currency":
			v.currency = a.Value
		case "number-columns-repeated":
			if v.times, err = r.repeated(a.Name.Local, most); err != nil {
				return v, err
			}
		}
	}
	if failed {
		v.kind, v.value = []byte("error"), nil
	}
	return v, nil
}

// number appends the value of the cell that starts.
func (r *odsReader) number(of numberKind, value []byte) columnar.CellKind {
	if of == kindNumber && isShortest(value) {
		r.texts = append(r.texts, value...)
		return columnar.CellNumber
	}
	if of == kindPercent && isShortest(value) {
		r.texts = appendShortPercent(r.texts, value)
		return columnar.CellPlain
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return columnar.CellMissing
	}
	var kind columnar.CellKind
	r.texts, kind, _ = appendValue(r.texts, n, numberFormat{kind: of}, false)
	return kind
}

// readParagraphs reads what is in a cell up to its end, and keeps its text where it counts: it returns
// how many paragraphs of it there are. Notes of a cell are not part of it.
func (r *odsReader) readParagraphs(keep bool) (paragraphs int, err error) {
	if r.usualParagraph(keep) {
		paragraphs++
	}
	if !keep {
		return 0, r.Skip()
	}
	start, depth := len(r.texts), 0
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return 0, noEnd(err)
		}
		switch kind {
		case xml.StartElement:
			switch r.Name().Local {
			case "annotation", "table", "shapes":
				if err := r.Skip(); err != nil {
					return 0, err
				}
			case "p":
				if paragraphs++; paragraphs > 1 {
					r.texts = append(r.texts, '\n')
				}
				depth, r.paragraphs = r.Depth(), r.paragraphs || r.Name().Prefix == "text"
				if text, ok := r.TextOnly(); ok {
					r.texts = append(r.texts, text...)
				}
			case "s":
				n, err := r.repeated("c", 1<<16)
				if err != nil {
					return 0, err
				}
				r.texts = append(r.texts, strings.Repeat(" ", n)...)
			case "tab":
				r.texts = append(r.texts, '\t')
			case "line-break":
				r.texts = append(r.texts, '\n')
			}
		case xml.Text:
			if depth > 0 && r.Depth() >= depth {
				r.texts = append(r.texts, r.Text()...)
			}
		}
		if len(r.texts)-start > input.MaxFieldBytes {
			return 0, tooLong(r.Reader)
		}
	}
	return paragraphs, nil
}

var (
	paragraphStart = []byte("<text:p>")
	paragraphEnd   = []byte("</text:p>")
)

// usualParagraph reads a paragraph that begins with what comes and is nothing but text, as almost all are, in one piece. It
// reports false where there is none.
func (r *odsReader) usualParagraph(keep bool) bool {
	ahead := r.Ahead()
	if !r.paragraphs || !bytes.HasPrefix(ahead, paragraphStart) {
		return false
	}
	ahead = ahead[len(paragraphStart):]
	end := bytes.IndexByte(ahead, '<')
	if end < 0 || end > input.MaxFieldBytes || !bytes.HasPrefix(ahead[end:], paragraphEnd) || bytes.IndexByte(ahead[:end], '&') >= 0 || bytes.IndexByte(ahead[:end], ']') >= 0 {
		return false
	}
	if keep {
		r.texts = append(r.texts, ahead[:end]...)
	}
	r.Advance(len(paragraphStart) + end + len(paragraphEnd))
	return true
}

// appendPeriod appends a period such as PT26H03M04.5S as hours, minutes and seconds, and what is
// none as it is. It reports whether it is a duration, which everything of a day or more is.
func appendPeriod(to, period []byte, elapsed bool) ([]byte, bool) {
	rest, negative := bytes.CutPrefix(period, []byte("-"))
	rest, ok := bytes.CutPrefix(rest, []byte("PT"))
	var parts [3]float64
	for i, unit := range "HMS" {
		if at := bytes.IndexRune(rest, unit); at >= 0 && ok {
			n, err := strconv.ParseFloat(strings.ReplaceAll(string(rest[:at]), ",", "."), 64)
			parts[i], ok, rest = n, err == nil, rest[at+1:]
		}
	}
	days := (parts[0]*3600 + parts[1]*60 + parts[2]) / (24 * 3600)
	if !ok || len(rest) > 0 || !(days < maxDays) {
		return append(to, period...), false
	}
	if negative {
		days = -days
	}
	if days >= 0 && days < 1 && !elapsed {
		text, _ := appendSerial(to, days, kindTime, false)
		return text, false
	}
	return appendDuration(to, days), true
}

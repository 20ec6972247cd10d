package sheet

import (
	"context"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// xmlBook is a workbook that Excel 2003 wrote as XML, and that much software still does. All of it is in one document.
type xmlBook struct {
	document *xml.Document
	list     []feedmill.Sheet
	ranges
	// formats are the number formats of the styles, by their ids.
	formats  map[string]numberFormat
	from1904 bool
}

// OpenXML opens a workbook of Excel 2003 and finds the table of a sheet. The table keeps the document and closes it.
func OpenXML(ctx context.Context, document *xml.Document, size int64, options Options) (*Table, error) {
	b := &xmlBook{document: document, ranges: make(ranges), formats: make(map[string]numberFormat)}
	if err := b.survey(ctx); err != nil {
		return nil, xml.Refusal(err)
	}
	t, err := newTable(ctx, b, size, options)
	if err != nil {
		return nil, xml.Refusal(err)
	}
	t.found.Encoding = document.Encoding()
	t.document = document
	return t, nil
}

// survey finds the sheets, the styles and the ranges that have names.
func (b *xmlBook) survey(ctx context.Context) error {
	r := b.reader(ctx)
	style, parents := "", make(map[string]string)
	var names [][2]string
	err := elements(r, func(local string) error {
		switch depth := r.Depth(); {
		case depth == 2 && local == "Worksheet":
			b.list = append(b.list, feedmill.Sheet{Index: len(b.list) + 1, Name: string(attribute(r, "Name"))})
		case depth == 3 && (local == "Table" || local == "PivotTable"):
			return r.Skip()
		case depth == 3 && local == "Date1904":
			b.from1904 = true
		case depth == 3 && local == "Style":
			style = string(attribute(r, "ID"))
			parents[style] = string(attribute(r, "Parent"))
		case depth == 4 && local == "NumberFormat":
			b.formats[style] = namedFormat(string(attribute(r, "Format")))
		case depth == 4 && local == "Visible" && len(b.list) > 0:
			text, err := appendText(nil, r)
			b.list[len(b.list)-1].Hidden = string(text) != "SheetVisible"
			return err
		case local == "NamedRange" && !isTrue(attribute(r, "Hidden")):
			names = append(names, [2]string{string(attribute(r, "Name")), string(attribute(r, "RefersTo"))})
		}
		if len(parents) > maxStyles || len(names) > maxStyles {
			return r.Fault("the workbook has more than " + strconv.Itoa(maxStyles) + " styles or names, the maximum")
		}
		return nil
	})
	if err == nil {
		err = checkSheets(b.list)
	}
	if err == nil && len(b.list) == 0 {
		err = input.Refuse("invalid-workbook", "the workbook has no sheets")
	}
	b.inherit(parents)
	for _, n := range names {
		if within, ok := b.parseArea(n[1]); ok {
			b.add(n[0], within)
		}
	}
	return err
}

// maxStyles is how many styles, and how many names, a workbook can have.
const maxStyles = 1 << 16

// inherit gives the styles that have no number format that of the style that they are based on.
func (b *xmlBook) inherit(parents map[string]string) {
	for id := range parents {
		at := id
		for range 8 { // more levels than Excel writes; they cannot be followed in a circle
			if format, ok := b.formats[at]; ok {
				b.formats[id] = format
				break
			}
			if at = parents[at]; at == "" {
				break
			}
		}
	}
}

// namedFormat is what a number format is, by its code or by its name in the files of Excel 2003.
func namedFormat(code string) numberFormat {
	switch code {
	case "", "General Number", "Fixed", "Standard", "Currency", "Scientific", "Yes/No", "True/False", "On/Off":
		return numberFormat{} // the symbol of Currency depends on the machine that shows it
	case "Percent":
		return numberFormat{kind: kindPercent}
	case "General Date":
		return numberFormat{kind: kindDateTime}
	case "Long Date", "Medium Date", "Short Date":
		return numberFormat{kind: kindDate}
	case "Long Time", "Medium Time", "Short Time":
		return numberFormat{kind: kindTime}
	case "Euro Currency":
		return numberFormat{unit: "€"}
	}
	return formatOf(code)
}

// parseArea reads a range such as ='My sheet'!R1C1:R10C3.
func (b *xmlBook) parseArea(text string) (area, bool) {
	text = strings.TrimPrefix(text, "=")
	at := strings.LastIndexByte(text, '!')
	if at < 0 {
		return area{}, false
	}
	from, to, two := strings.Cut(text[at+1:], ":")
	if !two {
		to = from
	}
	first, okFirst := parseR1C1(from, 0, 0)
	last, okLast := parseR1C1(to, maxRow, maxColumn)
	within, hasSheet, err := parseSheetRange(b.list, text[:at+1]+"A1")
	if err != nil || !hasSheet || !okFirst || !okLast || first[0] > last[0] || first[1] > last[1] {
		return area{}, false
	}
	within.firstRow, within.firstColumn, within.lastRow, within.lastColumn = first[0], first[1], last[0], last[1]
	return within, true
}

// parseR1C1 reads a reference such as R3C2, counted from 0. R3 is a row and C2 a column, whose other number is the given one.
func parseR1C1(text string, row, column int) (at [2]int, ok bool) {
	at = [2]int{row, column}
	rest := text
	for i, letter := range []string{"R", "C"} {
		digits, found := strings.CutPrefix(rest, letter)
		if !found {
			continue
		}
		end := len(digits)
		if next := strings.IndexByte(digits, 'C'); next >= 0 {
			end = next
		}
		n, err := strconv.Atoi(digits[:end])
		if err != nil || n < 1 || n > [2]int{maxRow, maxColumn}[i]+1 {
			return at, false
		}
		at[i], rest = n-1, digits[end:]
	}
	return at, rest == "" && text != ""
}

func (b *xmlBook) sheets() []feedmill.Sheet { return b.list }

func (b *xmlBook) reader(ctx context.Context) *xml.Reader {
	r := b.document.Reader(ctx)
	r.DropBlank = true
	return r
}

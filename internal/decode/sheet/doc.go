// Package sheet reads the tables of spreadsheets.
//
// A container gives the rows of one sheet in order, with what each cell says that it
// is: xlsx.go and the files beside it read Office Open XML, xlsb.go its binary parts, ods.go
// OpenDocument, xls.go the records of Excel 97 to 2003 in a compound file, html.go the tables of web pages. What
// they have in common is table.go, which finds the table among the rows as it is found
// in other formats, and keeps the cells on disk in blocks that several goroutines can
// read.
//
// The value of a cell is that of the file and not what a program shows of it. The
// number format of a cell decides only whether a number is a day, a time or a
// percentage (format.go, serial.go).
package sheet

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// Options say which table of a workbook is read.
type Options struct {
	// Sheet is the number of the worksheet, from 1; 0 is the first.
	Sheet int
	// Path is a range of cells such as B3:H200, or the name of a range or of a table.
	Path string
	// Header is the row with the names of the columns, 0 where it is to be found
	// and -1 where there is none.
	Header int64
	// Extent is which rows of the sheet are of the table, and Rules the version of the rules
	// that it is found by.
	Extent layout.Extent
	Rules  feedmill.Rules
	// Page says that the sheet is one of several that make one table, so that what a cell is must not
	// depend on the others of its column.
	Page bool
	// Temp is the folder for a temporary file; empty is that of the system.
	Temp string
}

// cell is a cell that has a value.
type cell struct {
	column int // from 0
	kind   columnar.CellKind
	text   []byte
	// unit is the currency of a number, and that of seconds where the text is a duration.
	unit string
	// start and end are where the text is among those of its row, while that is read.
	start, end int
}

// book is an open workbook.
type book interface {
	sheets() []feedmill.Sheet
	// named is where the range or the table of a name is.
	named(name string) (area, bool)
	rangeNames() []string
	// read gives the rows of a sheet to fn in order, and without the cells that are hidden. A row is good
	// until fn returns, which may take its cells and texts and leave the memory of others in their place. It
	// returns which areas are merged, where cells that they hide can have values.
	read(ctx context.Context, sheet int, hidden *merged, fn func(*line) error) ([]area, error)
}

// line is a row of a sheet.
type line struct {
	number int    // from 1
	cells  []cell // in order
	texts  []byte // of most of the cells
	hidden bool   // nobody sees the row, because somebody or a filter has hidden it
	copies int    // how many copies of the row follow, which the sheet has written once
}

// elsewhere is the start of a text that is not among those of its row.
const elsewhere = -1

// placeTexts gives the cells their texts once all texts of the row are there, because they may move while
// they grow.
func (l *line) placeTexts() {
	for i := range l.cells {
		if c := &l.cells[i]; c.start != elsewhere {
			c.text = l.texts[c.start:c.end:c.end]
		}
	}
}

// Open opens a workbook and finds the table of a sheet.
func Open(ctx context.Context, format string, data input.Source, options Options) (*Table, error) {
	b, err := openBook(ctx, format, data)
	if err != nil {
		return nil, err
	}
	return newTable(ctx, b, data.Size(), options)
}

func openBook(ctx context.Context, format string, data input.Source) (book, error) {
	switch format {
	case "ods":
		return openODS(ctx, data)
	case "xls":
		return openXLS(ctx, data)
	case "html":
		return openHTML(ctx, data)
	}
	return openXLSX(ctx, data)
}

// choose finds the sheet and the area that the options name.
func choose(b book, o Options) (sheet int, within area, err error) {
	sheets := b.sheets()
	within = everything
	if o.Path != "" {
		var named bool
		if within, named = b.named(o.Path); named {
			return inSheet(sheets, within, o)
		}
		var hasSheet bool
		if within, hasSheet, err = parseSheetRange(sheets, o.Path); err != nil {
			return 0, within, invalid("path", noRange(b, o.Path))
		}
		if hasSheet {
			return inSheet(sheets, within, o)
		}
	}
	sheet = max(o.Sheet, 1)
	if sheet > len(sheets) {
		var names []string
		for i, s := range sheets {
			names = append(names, fmt.Sprintf("%d %s", i+1, s.Name))
		}
		return 0, within, invalid("sheet", "sheet must be one of the sheets of the workbook: "+listed(names)+".")
	}
	return sheet - 1, within, nil
}

// inSheet is the area that a path names, unless the options name another sheet than its own.
func inSheet(sheets []feedmill.Sheet, within area, o Options) (int, area, error) {
	if o.Sheet != 0 && o.Sheet != within.sheet+1 {
		return 0, within, invalid("path", fmt.Sprintf("%q is in sheet %d (%s), but sheet is %d. Remove sheet, or set it to the sheet of the range.", o.Path, within.sheet+1, sheets[within.sheet].Name, o.Sheet))
	}
	return within.sheet, within, nil
}

// noRange says that a path is neither a range nor the name of one.
func noRange(b book, path string) string {
	detail := fmt.Sprintf("%q is not a cell range such as B3:H200, 'My sheet'!B3:H200 or B:H, nor the name of a range or table in the workbook", path)
	if names := b.rangeNames(); len(names) > 0 {
		return detail + ". Its names are: " + listed(names) + "."
	}
	return detail + "."
}

// checkSheets refuses a workbook with more sheets, or longer names, than a record can list.
func checkSheets(sheets []feedmill.Sheet) error {
	const most, longest = 1000, 255
	if len(sheets) > most {
		return input.Refuse("invalid-workbook", "the workbook has %d sheets; the maximum is %d", len(sheets), most)
	}
	for _, s := range sheets {
		if len(s.Name) > longest {
			return input.Refuse("invalid-workbook", "the name of sheet %d is longer than %d bytes, the maximum", s.Index, longest)
		}
	}
	return nil
}

func invalid(parameter, detail string) error {
	return feedmill.Invalid("Choose the part of the workbook to read.", feedmill.Fault{Parameter: parameter, Detail: detail})
}

// parseReference reads a reference such as AB12, counted from 0.
func parseReference(text []byte) (row, column int, ok bool) {
	i := 0
	for ; i < len(text) && i < 4; i++ {
		c := text[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		column = column*26 + int(c-'A') + 1
	}
	if i == 0 || i == len(text) || column > maxColumn+1 {
		return 0, 0, false
	}
	for _, c := range text[i:] {
		if c < '0' || c > '9' || row > maxRow+1 {
			return 0, 0, false
		}
		row = row*10 + int(c-'0')
	}
	if row < 1 || row > maxRow+1 {
		return 0, 0, false
	}
	return row - 1, column - 1, true
}

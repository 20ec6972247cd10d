package sheet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// Table is the table of a sheet. Its cells were written to a temporary file when it was
// opened, in blocks.
type Table struct {
	names    []string
	rows     int64
	width    int
	units    []string
	first    int // the column of the sheet that is the first of the table
	blocks   []block
	spool    *input.Spool
	warnings []feedmill.Warning
	found    feedmill.Findings
	// formats are those of the columns of the sheet, where cells have any.
	formats []columnFormat
	// document is that of a workbook in XML, nil for others.
	document *xml.Document
}

// block is a run of rows in the file: the texts, and the cells behind them.
type block struct {
	data  input.Source
	texts int
	// first is the column of the sheet that is the first of the run.
	first int
	run   columnar.Cells // without its texts and cells
}

// newTable reads a sheet to its end.
func newTable(ctx context.Context, b book, size int64, o Options) (*Table, error) {
	chosen, within := max(o.Sheet, 1)-1, everything
	ods, isODS := b.(*odsBook)
	if isODS && o.Path != "" {
		if err := ods.survey(ctx, 0, nil); err != nil {
			return nil, err
		}
	}
	var err error
	if !isODS || o.Path != "" {
		if chosen, within, err = choose(b, o); err != nil {
			return nil, err
		}
	}
	t, areas, err := readTable(ctx, b, chosen, within, newMerged(nil), size, o)
	if err != nil {
		return nil, err
	}
	if _, _, err := choose(b, o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if hides, err := hidesValues(ctx, b, chosen, areas); hides || err != nil {
		_ = t.Close() // what is lost with it is lost
		if err != nil {
			return nil, err
		}
		if t, _, err = readTable(ctx, b, chosen, within, newMerged(areas), size, o); err != nil {
			return nil, err
		}
	}
	sheets := b.sheets()
	t.found.Sheets = sheets
	if o.Sheet > 0 {
		t.found.Sheet = feedmill.Finding{Value: strconv.Itoa(o.Sheet), By: feedmill.BySet}
	}
	if o.Path != "" {
		t.found.Path = feedmill.Finding{Value: o.Path, By: feedmill.BySet}
	}
	if xls, ok := b.(*xlsBook); ok && xls.unreadable > 0 {
		t.warnings = append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnNumberFormat, Count: xls.unreadable,
			Detail: "The number formats of these cells cannot be read, so the cells were imported as plain numbers. Dates are numbers of days. Save the workbook as xlsx to keep the formats.",
		})
	}
	if isExport(b, o) {
		t.warnings = append(t.warnings, cutTexts(sheets)...)
	}
	if sheets[chosen].Hidden {
		t.warnings = append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnHidden, Count: 1, Detail: fmt.Sprintf("Sheet %d (%s) is hidden in the workbook and was imported. Set sheet to import another sheet.", chosen+1, sheets[chosen].Name),
		})
	}
	return t, nil
}

// readTable reads a sheet without the cells that are hidden, and returns the areas that are merged, too.
func readTable(ctx context.Context, b book, sheet int, within area, hidden *merged, size int64, o Options) (*Table, []area, error) {
	t := &Table{spool: input.NewSpool(o.Temp)}
	w := &tableWriter{table: t, within: within, page: o.Page, header: o.Header, size: size, extent: o.Extent, rules: o.Rules, tables: tables{number: 1}}
	w.exported = markExport(b, o)
	areas, err := b.read(ctx, sheet, hidden, w.row)
	if err == nil && w.exported && o.Sheet == 0 {
		err = w.readFurther(ctx, b, hidden)
	}
	if err == nil {
		err = w.end()
	}
	if err != nil {
		_ = t.Close() // what is lost with it is lost
		return nil, nil, err
	}
	return t, areas, nil
}

// Names are what the sheet calls the columns, empty where it does not.
func (t *Table) Names() []string { return slices.Clone(t.names) }

// Rows is how many there are.
func (t *Table) Rows() int64 { return t.rows }

// Units are those of the columns, where a row below their names gives them.
func (t *Table) Units() []string { return t.units }

// Formats are those of the columns that are numbers of one unit: a currency as it is written, or seconds.
func (t *Table) Formats() []string {
	if t.formats == nil {
		return nil
	}
	formats := make([]string, len(t.names))
	for i := range formats {
		formats[i] = t.formatOf(i).common()
	}
	return formats
}

// formatOf is the format of a column of the table.
func (t *Table) formatOf(column int) columnFormat {
	if at := t.first + column; at < len(t.formats) {
		return t.formats[at]
	}
	return columnFormat{}
}

// Found is how the sheet was read.
func (t *Table) Found() feedmill.Findings { return t.found }

// Warnings is what was noticed.
func (t *Table) Warnings() ([]feedmill.Warning, error) { return t.warnings, nil }

// Blocks is how many parts the rows can be read in.
func (t *Table) Blocks() int { return len(t.blocks) }

// Close removes the temporary files.
func (t *Table) Close() error {
	if t.document != nil {
		return errors.Join(t.document.Close(), t.spool.Close())
	}
	return t.spool.Close()
}

// Each gives all rows to fn in runs, from as many goroutines as there are workers.
func (t *Table) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	return input.EachBlock(ctx, workers, len(t.blocks), func(ctx context.Context, block int) error {
		return t.Read(ctx, block, block+1, fn)
	})
}

// Read gives the rows of the blocks [from, to) to fn, in order.
func (t *Table) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	var text []byte
	var all []columnar.Cell
	for _, b := range t.blocks[from:to] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text = slices.Grow(text[:0], int(b.data.Size()))[:b.data.Size()]
		if err := input.ReadFull(b.data, text, 0); err != nil {
			return fmt.Errorf("read the rows of a sheet: %w", err)
		}
		run := b.run
		before := b.first - t.first // columns that only later rows have
		run.Columns += before
		all = slices.Grow(all[:0], run.Rows*run.Columns)[:run.Rows*run.Columns]
		if before > 0 {
			clear(all)
		}
		run.Data, run.Cell = text[:b.texts:b.texts], all
		cells := text[b.texts:]
		for row := range run.Rows {
			for i := row*run.Columns + before; i < (row+1)*run.Columns; i++ {
				run.Cell[i] = columnar.Cell(binary.LittleEndian.Uint64(cells))
				cells = cells[8:]
			}
		}
		if t.formats != nil {
			t.resolve(&run)
		}
		if err := fn(&run); err != nil {
			return err
		}
	}
	return nil
}

package sheet

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
)

// application is the name by which a workbook says that Feedmill wrote it. Other programs
// replace it with their own when they save the workbook.
const application = "feedmill"

// isExport reports whether a sheet is read as Feedmill wrote it, without a search for titles,
// units, notes and further tables. Options that name a header or a range take precedence.
func isExport(b book, o Options) bool {
	x, ok := b.(*xlsxBook)
	return ok && x.application == application && o.Rules > feedmill.RulesFirst && o.Header == 0 && o.Path == ""
}

// exportedRow takes the next row of a sheet that Feedmill wrote. The first has the names. A row
// without cells is a row of nulls.
func (w *tableWriter) exportedRow(r *line) error {
	t := w.table
	switch {
	case !w.found:
		w.found, w.last = true, r.number
		for i := range r.cells {
			t.names = append(t.names, shown(r.cells[i]))
		}
		t.width, w.names = len(t.names), len(t.names)
		t.found.Header = feedmill.LineFinding{Finding: feedmill.Finding{Value: strconv.Itoa(r.number), By: feedmill.ByFound}}
		return nil
	case w.last == 0: // the names again, on the next sheet
		w.last = r.number
		return nil
	case len(r.cells) == 0:
		w.last = r.number
		return w.add(nil)
	}
	return w.write(r)
}

// readFurther reads the sheets that hold the rows which do not fit on the first.
func (w *tableWriter) readFurther(ctx context.Context, b book, hidden *merged) error {
	sheets := b.sheets()
	for i := 1; i < len(sheets) && sheets[i].Name == fmt.Sprintf("%s %d", sheets[0].Name, i+1); i++ {
		w.last = 0
		if _, err := b.read(ctx, i, hidden, w.row); err != nil {
			return err
		}
	}
	return nil
}

// cutTexts warns of texts that did not fit into the cells when Feedmill wrote the workbook. A
// sheet names them.
func cutTexts(sheets []feedmill.Sheet) (out []feedmill.Warning) {
	if slices.ContainsFunc(sheets, func(s feedmill.Sheet) bool { return s.Name == "Notes" }) {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnCutTexts, Count: 1,
			Detail: "Texts were cut to 32,767 characters when the workbook was written. The sheet Notes lists the cells. Upload another format to keep the whole texts.",
		})
	}
	return out
}

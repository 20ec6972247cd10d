package sheet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// application is the name by which a workbook says that Feedmill wrote it. Other programs
// replace it with their own when they save the workbook.
const application = "feedmill"

// markExport notes whether a workbook is read as an export, and reports it.
func markExport(b book, o Options) bool {
	x, ok := b.(*xlsxBook)
	if !ok {
		return false
	}
	x.exported = isExport(b, o)
	return x.exported
}

// isExport reports whether a sheet is read as Feedmill wrote it, without a search for titles,
// units, notes and further tables. Options that name a header or a range take precedence.
func isExport(b book, o Options) bool {
	x, ok := b.(*xlsxBook)
	return ok && x.application == application && o.Rules > feedmill.RulesFirst && o.Header == 0 && o.Path == ""
}

// microsecondDays is the day from which on a number of days cannot tell microseconds.
const microsecondDays = 1 << 16

// appendExportedTime appends a time that Feedmill wrote, to the microsecond. It writes a time that
// has microseconds as a number only before microsecondDays.
func appendExportedTime(to []byte, n float64) ([]byte, columnar.CellKind) {
	day, rest := microsecondsOf(n)
	to = append(appendDay(to, day-25569), 'T')
	return time.UnixMicro(rest).UTC().AppendFormat(to, "15:04:05.000000"), columnar.CellDate
}

// hasMicroseconds reports whether a number is a time of an export that is not of a whole millisecond.
func hasMicroseconds(n float64) bool {
	if !(n > 60 && n < microsecondDays) {
		return false
	}
	_, rest := microsecondsOf(n)
	return rest%1000 != 0
}

// microsecondsOf splits a number of days into whole ones and microseconds.
func microsecondsOf(n float64) (days, micros int64) {
	whole, part := math.Modf(n)
	days, micros = int64(whole), int64(math.Round(part*msPerDay*1000))
	return days + micros/(msPerDay*1000), micros % (msPerDay * 1000)
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

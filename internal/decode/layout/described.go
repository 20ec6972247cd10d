package layout

import (
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
)

// describe takes out the two rows that Qualtrics writes below the names: the texts of the
// questions, which describe the columns, and the ids of the questions as JSON.
func (f *finder) describe(t *Table) bool {
	if f.rules <= feedmill.RulesFirst || f.width < 2 {
		return false
	}
	first := f.next(t.First)
	last := first
	if !f.importIDs(first) {
		last = f.next(first + 1)
		if !f.importIDs(last) {
			return false
		}
		t.Units = describing(f.rows[first].Cells)
	}
	t.warn(feedmill.WarnDescriptions, f.skipped(first, last+1), f.examples(first, last), "%s left out. Set header=%d to import every line below it as data.",
		f.lines(first, last, "describes the columns and was", "describe the columns and were"), f.rows[t.Header[len(t.Header)-1]].Line)
	t.First = last + 1
	return true
}

// importIDs reports whether each cell of a row is the id of a question.
func (f *finder) importIDs(i int) bool {
	if i >= len(f.rows) || f.rows[i].filled() == 0 {
		return false
	}
	for _, cell := range f.rows[i].Cells {
		if cell != "" && !(strings.HasPrefix(cell, `{"ImportId":`) && strings.HasSuffix(cell, "}")) {
			return false
		}
	}
	return true
}

// describing are cells as descriptions of columns, which have a limit.
func describing(cells []string) []string {
	texts := make([]string, len(cells))
	for j, cell := range cells {
		for utf8.RuneCountInString(cell) > feedmill.MaxDescription {
			_, size := utf8.DecodeLastRuneInString(cell)
			cell = cell[:len(cell)-size]
		}
		texts[j] = cell
	}
	return texts
}

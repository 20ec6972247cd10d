package json

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// columnArrays returns what writes a table that has an array for each column. What is
// beside those is the same in each row. It is nil where they are too many.
func (t *reshaper) columnArrays(each tableRows) func() {
	var names []string
	var cells [][]int32
	var beside []int
	rows := 0
	fine := each(func(name []byte, start, _ int) bool {
		var column []int32
		if t.data[start] == '[' {
			t.children(start, func(_ []byte, s, _ int) bool {
				column = append(column, int32(s))
				return true
			})
			rows = max(rows, len(column))
		} else {
			beside = append(beside, len(cells))
			column = []int32{int32(start)}
		}
		word, _ := text(name)
		names, cells = append(names, word), append(cells, column)
		return len(names) <= input.MaxColumns
	})
	if !fine {
		return nil
	}
	for _, at := range beside {
		cells[at] = slices.Repeat(cells[at], rows)
	}
	if rows > 0 && rows < fewRows {
		t.warnings = append(t.warnings, feedmill.Warning{
			Code: feedmill.WarnColumnArrays, Count: int64(len(names)),
			Detail: fmt.Sprintf("The members are arrays of %d values each, so they were read as columns. Set path to the object around them to read it as one record.", rows),
		})
	}
	return func() { t.rowsOf(names, cells, rows) }
}

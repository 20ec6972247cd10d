package sqlite

import (
	"strconv"
	"strings"
	"sync"
)

// rowsInsert is an INSERT of several rows in one statement, which costs a good
// deal less than a statement for each: the indexes are opened once.
type rowsInsert struct {
	// into is the statement up to VALUES, and row the values of one row: $
	// stands for a value of the row's own, ?1 and so on for one that all of
	// them share, of which there are shared.
	into, row string
	shared    int

	texts sync.Map // number of rows → SQL
}

// rowSteps are how many rows a statement has. A few sizes are enough, and stay
// prepared.
var rowSteps = []int{64, 8, 1}

// insertRows inserts rows that have own values each. It answers the number that
// the last one got; those before it have the numbers before that.
func (t *tx) insertRows(q *rowsInsert, shared []any, own int, values []any) (last int64, err error) {
	for len(values) > 0 {
		for _, n := range rowSteps {
			if n*own > len(values) {
				continue
			}
			t.args = append(append(t.args[:0], shared...), values[:n*own]...)
			if last, err = t.insert(q.text(n), t.args...); err != nil {
				return 0, err
			}
			values = values[n*own:]
			break
		}
	}
	return last, nil
}

// text is the statement for n rows.
func (q *rowsInsert) text(n int) string {
	if text, ok := q.texts.Load(n); ok {
		return text.(string)
	}
	var b strings.Builder
	b.WriteString(q.into)
	next := q.shared
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		for part := range strings.SplitAfterSeq(q.row, "$") {
			own, ok := strings.CutSuffix(part, "$")
			b.WriteString(own)
			if ok {
				next++
				b.WriteString("?" + strconv.Itoa(next))
			}
		}
	}
	text, _ := q.texts.LoadOrStore(n, b.String())
	return text.(string)
}

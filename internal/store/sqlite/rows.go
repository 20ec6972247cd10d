package sqlite

import (
	"strings"
	"sync"
)

// rowsInsert is an INSERT of several rows in one statement, which costs a good
// deal less than a statement for each: the indexes are opened once.
type rowsInsert struct {
	// into is the statement up to VALUES, and row the values of one row.
	into, row string

	texts sync.Map // number of rows → SQL
}

// rowSteps are how many rows a statement has. A few sizes are enough, and stay
// prepared.
var rowSteps = []int{64, 8, 1}

// insertRows inserts as many rows as the values are for. It answers the number
// that the last one got; those before it have the numbers before that.
func (t *tx) insertRows(q *rowsInsert, v *values, rows int) (last int64, err error) {
	for _, n := range rowSteps {
		if rows < n {
			continue
		}
		if err := t.run(q.text(n), v, rows/n, nil); err != nil {
			return 0, err
		}
		rows %= n
	}
	return int64(t.result.last), nil
}

// text is the statement for n rows.
func (q *rowsInsert) text(n int) string {
	if text, ok := q.texts.Load(n); ok {
		return text.(string)
	}
	text, _ := q.texts.LoadOrStore(n, q.into+q.row+strings.Repeat(", "+q.row, n-1))
	return text.(string)
}

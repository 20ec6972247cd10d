package sqlite

import (
	"strings"
	"sync"
)

// multiInsert is an INSERT of several rows in one statement, which costs a good
// deal less than a statement for each: the indexes are opened once.
type multiInsert struct {
	// into is the statement up to VALUES, and row the values of one row.
	into, row string

	texts sync.Map // number of rows → SQL
}

// multiInsertSizes are how many rows a statement has. A few sizes are enough, and
// stay prepared.
var multiInsertSizes = []int{64, 8, 1}

// flushBytes is how many bytes of values are gathered before they are written.
const flushBytes = 128 << 10

// rowBuffer gathers rows that an INSERT is to write.
type rowBuffer struct {
	values
	tx   *tx
	into *multiInsert
	// count is how many rows wait, and last the number that the last one
	// written got; those before it have the numbers before that.
	count int
	last  int64
}

// insertInto begins to insert rows. It uses the memory of those before it.
func (t *tx) insertInto(q *multiInsert) *rowBuffer {
	r := &t.inserting
	r.reset()
	r.tx, r.into, r.count = t, q, 0
	return r
}

// endRow ends a row. Then it waits, or all rows up to it are written and none
// does.
func (r *rowBuffer) endRow() error {
	if r.count++; len(r.packed) < flushBytes {
		return nil
	}
	return r.flush()
}

// flush writes the rows that wait.
func (r *rowBuffer) flush() error {
	for _, n := range multiInsertSizes {
		if r.count < n {
			continue
		}
		if err := r.tx.run(r.into.text(n), &r.values, r.count/n, nil); err != nil {
			return err
		}
		r.last = int64(r.tx.result.last)
		r.count %= n
	}
	r.reset()
	return nil
}

// text is the statement for n rows.
func (q *multiInsert) text(n int) string {
	if text, ok := q.texts.Load(n); ok {
		return text.(string)
	}
	text, _ := q.texts.LoadOrStore(n, q.into+q.row+strings.Repeat(", "+q.row, n-1))
	return text.(string)
}

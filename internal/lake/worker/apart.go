package worker

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// apart reads the only row of a query that needs more memory than the database has, some
// columns at a time. A row can have 64 MiB and none of its values more than 16 MiB, so
// the row is held in memory of this process, which the database does not count. It
// returns the number of rows: one, or none where the query selects none. Where the query
// has more rows, or a single value is too large, it fails as the query did.
func (r *result) apart(sql string, failure error) (int, error) {
	described, err := r.begun("SELECT * FROM (" + sql + ") LIMIT 0")
	if err != nil {
		return 0, err
	}
	defer described.close()
	if err := r.take(described.columns); err != nil {
		return 0, err
	}
	if rows, err := r.countRows(sql); err != nil || rows > 1 {
		return 0, failure
	} else if rows == 0 {
		return 0, nil
	}
	// Names of columns can differ in case only, which is the same name to DuckDB.
	names := make([]string, len(r.columns))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	table := "(" + sql + ") AS large (" + strings.Join(names, ", ") + ")"
	if err := r.readApart(table, names, 0, len(names)); err != nil {
		return 0, err
	}
	return 1, nil
}

// forget releases a row that was read apart, before another is read.
func (r *result) forget() {
	if !slices.ContainsFunc(r.columns, func(c column) bool { return c.own }) {
		return
	}
	for i := range r.columns {
		r.columns[i].cells = cells{}
	}
	debug.FreeOSMemory()
}

// begun begins another query with the same parameters.
func (r *result) begun(sql string) (*result, error) {
	other := &result{database: r.database, args: r.args}
	if err := other.begin(sql); err != nil {
		other.close()
		return nil, err
	}
	return other, nil
}

// countRows counts the rows of a query.
func (r *result) countRows(sql string) (int64, error) {
	counted, err := r.begun("SELECT CAST(count(*) AS BIGINT) FROM (" + sql + ")")
	if err != nil {
		return 0, err
	}
	defer counted.close()
	if n, err := counted.fetch(); err != nil || n != 1 {
		return 0, errors.Join(err, errors.New("the rows cannot be counted"))
	}
	return at[int64](&counted.columns[0].cells, 0), nil
}

// readApart reads the columns names[from:to] of the only row of a table, half of them at a time
// where all of them are too large.
func (r *result) readApart(table string, names []string, from, to int) error {
	part, err := r.begun("SELECT " + strings.Join(names[from:to], ", ") + " FROM " + table)
	n := 0
	if err == nil {
		defer part.close()
		n, err = part.fetch()
	}
	if outOfMemory(err) && to-from > 1 {
		if part != nil {
			part.release() // before more is read
		}
		middle := from + (to-from)/2
		if err := r.readApart(table, names, from, middle); err != nil {
			return err
		}
		return r.readApart(table, names, middle, to)
	}
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("a row that is read in parts has %d rows", n)
	}
	for i := range part.columns {
		r.columns[from+i].cells = part.columns[i].owned()
	}
	return nil
}

// outOfMemory reports whether the database failed for want of memory.
func outOfMemory(err error) bool {
	failure, ok := errors.AsType[*wire.Failure](err)
	return ok && failure.Memory
}

// ownText is a text of more than twelve bytes as DuckDB has it.
type ownText struct {
	size   uint32
	prefix [4]byte
	text   *byte
}

// owned copies the first value of the column into memory of this process.
func (c *column) owned() cells {
	copied := cells{own: true}
	if c.null(0) {
		copied.data, copied.valid = unsafe.Pointer(new([2]uint64)), unsafe.Pointer(new(uint64))
		return copied
	}
	if c.kind == kindText && len(c.text(0)) > inPlace {
		text := slices.Clone(c.text(0))
		copied.data = unsafe.Pointer(&ownText{size: uint32(len(text)), text: &text[0]})
		return copied
	}
	value := new([2]uint64)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(value)), size(c.kind)), unsafe.Slice((*byte)(c.data), size(c.kind)))
	copied.data = unsafe.Pointer(value)
	return copied
}

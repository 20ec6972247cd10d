package lake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// A worker that sorts holds whole rows, and cannot where they have megabytes. Large rows are
// therefore sorted by their keys and numbers, and then read by their numbers, some at a time.

const (
	// sortedRows is how many rows a version can have whose rows are sorted apart: the server holds
	// their numbers.
	sortedRows = 100_000
	// sortedRow is from how many bytes a row on, on average, rows are sorted apart right away. Smaller
	// ones are when a worker could not sort them.
	sortedRow = 32 << 10
	// sortedBytes and sortedBatch are how much is read by one statement.
	sortedBytes, sortedBatch = 4 << 20, 256
	// partBytes is about how much there is between two cuts of a file.
	partBytes = 8 << 20
)

// sortedPrefixes are by how many characters of a text rows are sorted, while texts that differ
// begin with the same ones.
var sortedPrefixes = []int{1 << 10, 16 << 10, 256 << 10}

// sortsApart reports whether rows of the version can be sorted apart, and whether they have to be.
func (v *Version) sortsApart(t *query.Tree) (can, must bool) {
	if v.source != "" || !v.isLarge() || len(t.Sort) == 0 || t.Grouped() || v.Rows > sortedRows {
		return false, false
	}
	parts := int64(0)
	for i := range v.Files {
		parts += int64(len(v.Files[i].Cuts)) + 1
	}
	return true, parts*partBytes/v.Rows >= sortedRow
}

// runSorted runs the request of a query. Rows that are sorted and too large for that are sorted
// apart.
func (r *Reader) runSorted(ctx context.Context, v *Version, what *statement, after *Cursor, request wire.Request, out io.Writer) (wire.End, error) {
	can, must := v.sortsApart(what.tree)
	if !can {
		return r.runRequest(ctx, request, out)
	}
	if !must {
		first := &watched{Writer: out}
		end, err := r.runRequest(ctx, request, first)
		if !errors.Is(err, errTooLarge) || first.written {
			return end, err
		}
	}
	if err := r.sortApart(ctx, v, what, after, &request); err != nil {
		return wire.End{}, err
	}
	return r.runRequest(ctx, request, out)
}

// watched notes whether something was written.
type watched struct {
	io.Writer
	written bool
}

func (w *watched) Write(p []byte) (int, error) {
	w.written = true
	return w.Writer.Write(p)
}

// sortedRead is a row that is read after it was sorted.
type sortedRead struct{ row, bytes int64 }

// sortApart changes a request for sorted rows to one that reads them by their numbers, which it
// finds out.
func (r *Reader) sortApart(ctx context.Context, v *Version, what *statement, after *Cursor, request *wire.Request) error {
	rows, err := r.sortedNumbers(ctx, v, what, request.Files)
	if err != nil {
		return err
	}
	begin := int(min(what.tree.Offset, int64(len(rows))))
	if after != nil {
		begin = 1 + slices.IndexFunc(rows, func(row sortedRead) bool { return row.row == after.row() })
	}
	rows = rows[begin:]
	if limit := what.tree.Limit; limit > 0 {
		rows = rows[:min(limit+1, int64(len(rows)))]
	}
	one := *what
	tree := *what.tree
	tree.Where, one.tree = nil, &tree
	request.SQL, request.Then = "", nil
	for from := 0; from < len(rows) || request.SQL == ""; {
		to, size := from, int64(0)
		for to < len(rows) && to-from < sortedBatch && (to == from || size+rows[to].bytes <= sortedBytes) {
			size += rows[to].bytes
			to++
		}
		one.Writer = newWriter(duckdb.Dialect{}, &tree, columnName)
		sql := one.selectNumbered(v, rows[from:to])
		if request.SQL == "" {
			request.SQL, request.Args = sql, one.Args()
		} else {
			request.Then = append(request.Then, sql)
		}
		from = max(to, 1)
	}
	request.Apart = v.apart()
	return nil
}

// selectNumbered selects some rows, in the order given.
func (s *statement) selectNumbered(v *Version, rows []sortedRead) string {
	numbers := make([]string, len(rows))
	wanted := make([]int64, len(rows))
	for i, row := range rows {
		numbers[i], wanted[i] = strconv.FormatInt(row.row, 10), row.row
	}
	names := numbered("f", len(s.tree.Outputs))
	for i, k := range s.tree.Sort {
		name := "s" + strconv.Itoa(i)
		if isLong(k.Expression) {
			name = fmt.Sprintf("left(CAST(%s AS VARCHAR), %d)", name, longKey) // all that a cursor takes of it
		}
		names = append(names, name)
	}
	sql := "SELECT " + strings.Join(append(names, "rn"), ", ") + " FROM (" + s.selectAll(v.scanRows("", wanted)) + ")"
	if len(rows) > 1 {
		sql += " ORDER BY list_position([" + strings.Join(numbers, ", ") + "], rn)"
	}
	return sql
}

// scanRows is scan with the rows of some numbers alone.
func (v *Version) scanRows(folder string, rows []int64) string {
	if v.source != "" {
		return v.source + " WHERE nr IN (" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(rows)), ", "), "[]") + ")"
	}
	var parts []string
	first := int64(0)
	for i := range v.Files {
		file := &v.Files[i]
		var numbers []string
		for _, row := range rows {
			if row >= first && row < first+file.Rows {
				numbers = append(numbers, strconv.FormatInt(row-first, 10))
			}
		}
		// Without rows there is one file, for the sake of the columns.
		holds := " WHERE false"
		if len(numbers) > 0 {
			holds = " WHERE nr IN (" + strings.Join(numbers, ", ") + ")"
		}
		if len(numbers) > 0 || len(rows) == 0 && i == 0 {
			parts = append(parts, "SELECT "+v.selected(file, first)+" FROM "+scanFile(folder, file, len(v.physical(file)))+holds)
		}
		first += file.Rows
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ") AS t(" + strings.Join(append(numbered("c", len(v.Columns)), "nr"), ", ") + ")"
}

// sortedNumbers returns the numbers of all rows of a query, in its order.
func (r *Reader) sortedNumbers(ctx context.Context, v *Version, what *statement, files map[string]string) ([]sortedRead, error) {
	for _, prefix := range sortedPrefixes {
		s := *what
		s.Writer = newWriter(duckdb.Dialect{}, s.tree, columnName)
		request := wire.Request{SQL: s.selectKeys(v.scan("", 0), prefix), Args: s.Args(), Format: wire.FormatArrow, Files: files}
		request.Names = append(append(numbered("p", len(s.tree.Sort)), numbered("h", len(s.tree.Sort))...), "rn", "size")
		rows, sorted, err := r.readKeys(ctx, request, len(s.tree.Sort))
		if err != nil || sorted {
			return rows, err
		}
	}
	return nil, errTooLarge
}

// selectKeys selects what rows are sorted by, a sum of it where it is longer than the prefix, the
// number of the row and how many bytes of text it has.
func (s *statement) selectKeys(from string, prefix int) string {
	var keys, sums, order, selected []string
	size := "0"
	for i, o := range s.tree.Outputs {
		if isLong(o.Expression) {
			size += fmt.Sprintf(" + coalesce(strlen(CAST(f%d AS VARCHAR)), 0)", i)
			selected = append(selected, s.Expression(o.Expression)+" AS f"+strconv.Itoa(i))
		}
	}
	for i, k := range s.tree.Sort {
		name := "s" + strconv.Itoa(i)
		selected = append(selected, s.Expression(k.Expression)+" AS "+name)
		key, sum := name, "CAST(NULL AS VARCHAR)"
		if isLong(k.Expression) {
			name = "CAST(" + name + " AS VARCHAR)"
			key = fmt.Sprintf("left(%s, %d)", name, prefix)
			sum = fmt.Sprintf("CASE WHEN length(%s) > %d THEN sha256(%s) END", name, prefix, name)
		}
		direction := " ASC NULLS LAST"
		if k.Descending {
			direction = " DESC NULLS LAST"
		}
		keys, sums, order = append(keys, fmt.Sprintf("%s AS p%d", key, i)), append(sums, fmt.Sprintf("%s AS h%d", sum, i)), append(order, fmt.Sprintf("p%d%s", i, direction))
	}
	inner := "SELECT " + strings.Join(append(selected, "nr AS rn"), ", ") + " FROM " + from
	if len(s.tree.Where) > 0 {
		inner += " WHERE " + s.Predicate(s.tree.Where)
	}
	sql := "SELECT " + strings.Join(append(append(keys, sums...), "rn", "CAST("+size+" AS BIGINT) AS size"), ", ") + " FROM (" + inner + ")"
	return sql + " ORDER BY " + strings.Join(append(order, "rn"), ", ")
}

// isLong reports whether values of an expression can be long.
func isLong(e query.Expression) bool {
	return e.Column.Type == columnar.TypeText || e.Column.Type == columnar.TypeJSON
}

// readKeys reads sorted rows. It reports false where texts that differ begin with the same
// characters, so that the order is not known.
func (r *Reader) readKeys(ctx context.Context, request wire.Request, keys int) (rows []sortedRead, sorted bool, err error) {
	var last []string
	sorted = true
	for batch, err := range batches(func(out io.Writer) error {
		_, err := r.run(ctx, request, out)
		return err
	}) {
		if err != nil {
			return nil, false, err
		}
		numbers, isNumber := batch.Column(2 * keys).(*array.Int64)
		sizes, isSize := batch.Column(2*keys + 1).(*array.Int64)
		if !isNumber || !isSize {
			return nil, false, fmt.Errorf("numbers of rows are %s and %s", batch.Column(2*keys).DataType(), batch.Column(2*keys+1).DataType())
		}
		for i := range int(batch.NumRows()) {
			this := keysOf(batch, i, 2*keys)
			sorted = sorted && (last == nil || told(last, this))
			last = this
			rows = append(rows, sortedRead{numbers.Value(i), sizes.Value(i)})
		}
	}
	return rows, sorted, nil
}

// keysOf returns the first columns of a row as texts that are the same for the same values.
func keysOf(batch arrow.RecordBatch, row, columns int) []string {
	all := make([]string, columns)
	for i := range all {
		if c := batch.Column(i); !c.IsNull(row) {
			all[i] = "=" + c.ValueStr(row)
		}
	}
	return all
}

// told reports whether the order of two rows is known by their keys, of which the second half are sums.
func told(a, b []string) bool {
	keys := len(a) / 2
	for i := range keys {
		if a[i] != b[i] {
			return true
		}
		if a[keys+i] != b[keys+i] {
			return false
		}
	}
	return true
}

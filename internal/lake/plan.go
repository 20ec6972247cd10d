package lake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Plan turns a query over a version into a request to a worker. folder is where
// the version's files are, from the folder of the workers on: DuckDB takes a path
// for a pattern, and this way it does not depend on what that folder is called.
// after is where the page before ended; nil means from the beginning.
//
// The rows come in the order of the source, or sorted with ties in that order,
// so that pages neither overlap nor leave anything out. The bounds of row groups
// and the numbers of rows tell the worker which parts of the file to read. All
// faults of the query are in one [feedmill.Error].
func Plan(v *Version, folder string, q feedmill.Query, format wire.Format, after *Cursor) (wire.Request, error) {
	tree, faults := query.Resolve(q, v.Columns)
	if format == wire.FormatXLSX && len(tree.Outputs) > wire.MaxSheetColumns {
		faults.Add(feedmill.Fault{Parameter: "format"}, fmt.Sprintf("a sheet can have at most %d columns; select fewer fields, or another format", wire.MaxSheetColumns))
	}
	if after != nil && !after.fits(v, &q, len(tree.Sort)) {
		faults.Add(feedmill.Fault{Parameter: "cursor"}, "cursor belongs to another query or version; start again without cursor")
	}
	if err := faults.Err(); err != nil {
		return wire.Request{}, err
	}
	if len(v.Columns) == 0 {
		return wire.Request{Format: format, Limit: q.Limit, SQL: "SELECT 0 AS rn WHERE false"}, nil
	}
	return planTree(v, folder, &statement{tree: tree}, format, after), nil
}

// planTree is [Plan] for a query that has been found to be right. what is the statement without its
// writer.
func planTree(v *Version, folder string, what *statement, format wire.Format, after *Cursor) wire.Request {
	tree := what.tree
	request := wire.Request{Format: format, Limit: tree.Limit}
	from := int64(0)
	if after != nil && len(tree.Sort) == 0 && !tree.Grouped() {
		from = after.row() + 1
	}
	scans := []string{v.scan(folder, from)}
	if what.inOrder() && (tree.Offset == 0 || len(tree.Where) == 0) {
		scans = v.scans(folder, from)
		request.Apart = v.apart()
	}
	for i, scan := range scans {
		s := *what
		s.Writer, s.version, s.folder = newWriter(duckdb.Dialect{}, tree, columnName), v, folder
		sql := s.selectRows(scan, after)
		if i == 0 {
			request.SQL, request.Args = sql, s.Args()
		} else {
			request.Then = append(request.Then, sql)
		}
	}
	request.Nullable = true
	for i, o := range tree.Outputs {
		request.Names = append(request.Names, o.Name)
		if format == wire.FormatParquet {
			request.IDs = append(request.IDs, columnID(o))
		}
		request.Nullable = request.Nullable && (o.Aggregate != "" || o.Period != nil || o.Column.Nullable)
		if unit := unitOf(o); unit != "" {
			request.Units = append(request.Units, make([]string, i+1-len(request.Units))...)
			request.Units[i] = unit
		}
	}
	return request
}

// columnID is the id of the column that an output is, empty for an aggregate and a period.
func columnID(o query.Output) string {
	if o.Aggregate != "" || o.Period != nil {
		return ""
	}
	return o.Column.ID
}

// unitOf is what a workbook shows with the numbers of a column.
func unitOf(o query.Output) string {
	switch {
	case o.Aggregate != "":
		return ""
	case o.Column.Format == percentFormat:
		return wire.Percent
	case columnar.IsCurrency(o.Column.Format, true):
		return o.Column.Format
	}
	return ""
}

// percentFormat is the format of columns that are percentages.
const percentFormat = "percent"

// PlanCount turns a query over a version into a request for how many rows it
// would give, as the column "count".
func PlanCount(v *Version, folder string, q feedmill.Query) (wire.Request, error) {
	q.Sort, q.Limit, q.Offset = nil, 0, 0
	request, err := Plan(v.uncut(), folder, q, wire.FormatNDJSON, nil)
	if err != nil {
		return request, err
	}
	request.SQL = "SELECT CAST(count(*) AS BIGINT) AS f0, CAST(0 AS BIGINT) AS rn FROM (" + request.SQL + ")"
	request.Names, request.Units, request.Nullable = []string{"count"}, nil, false
	return request, nil
}

// newWriter makes a writer of a statement, in which a column of the table is called what the function
// returns.
func newWriter(d duckdb.Dialect, t *query.Tree, column func(query.Column) string) *query.Writer {
	formulas := &query.Written{Formulas: &t.Formulas, Dialect: duckdb.Computed{}, Column: column}
	w := query.NewWriter(d, formulas.SQL)
	formulas.Bind = func(text string) string { return "CAST(" + w.Bind(text) + " AS VARCHAR)" }
	return w
}

// statement writes the SQL of one query.
type statement struct {
	*query.Writer
	tree *query.Tree
	// version has the rows, in files in the folder.
	version *Version
	folder  string
	// infinite selects sums that are beyond the range of a number as infinite numbers, for
	// the caller to count them. Else they are null.
	infinite bool
}

// inOrder reports whether rows come in the order of the file.
func (s *statement) inOrder() bool {
	return len(s.tree.Sort) == 0 && len(s.tree.Joins) == 0 && !s.tree.Grouped()
}

// columnName is what SQL calls a column, as scan has it.
func columnName(c query.Column) string { return "c" + strconv.Itoa(c.Index) }

// selectRows selects the outputs, f0 and so on, then the keys of a row: what it is
// sorted by, s0 and so on, and its number.
func (s *statement) selectRows(from string, after *Cursor) string {
	inner := s.selectAll(from)
	names := append(numbered("f", len(s.tree.Outputs)), numbered("s", len(s.tree.Sort))...)
	sql := "SELECT " + strings.Join(append(names, "rn"), ", ") + " FROM (" + inner + ")"
	// Rows in the order of the file are known by their numbers, so that nothing
	// before the offset is read.
	inOrder := len(s.tree.Where) == 0 && s.inOrder()
	switch {
	case after != nil:
		sql += " WHERE " + s.after(after)
	case s.tree.Offset > 0 && inOrder:
		sql += " WHERE rn >= " + strconv.FormatInt(s.tree.Offset, 10)
	}
	sql += s.orderBy()
	if s.tree.Limit > 0 {
		// One more than wanted tells whether there is a next page.
		sql += " LIMIT " + strconv.FormatInt(s.tree.Limit+1, 10)
		if inOrder && after == nil && s.tree.Limit < pageLimit {
			sql += notConstant
		}
	}
	if s.tree.Offset > 0 && !inOrder && after == nil {
		sql += " OFFSET " + strconv.FormatInt(s.tree.Offset, 10)
	}
	return sql
}

// notConstant adds zero to the limit of a page of the first rows. DuckDB plans a constant limit of a
// whole file as a join of the file with the numbers of its first rows, which takes twice the time.
const notConstant = " + CAST(0 * random() AS BIGINT)"

// pageLimit is from which limit on rows are read by the join, which reads them in parallel.
const pageLimit = 10_000

// selectAll selects the outputs, the keys and, as rn, the number of the row: of a
// group, that of its first row.
func (s *statement) selectAll(from string) string {
	var selected, groups []string
	for i, o := range s.tree.Outputs {
		sql := s.Expression(o.Expression)
		switch {
		case o.Period != nil:
			groups = append(groups, "f"+strconv.Itoa(i)) // once is long enough
		case o.Aggregate == "":
			groups = append(groups, sql)
		}
		if !s.infinite {
			sql = s.tree.Bounded(o.Expression, sql)
		}
		sql = duckdb.Checked(o.Expression, sql)
		selected = append(selected, sql+" AS f"+strconv.Itoa(i))
	}
	for i, k := range s.tree.Sort {
		selected = append(selected, s.tree.Bounded(k.Expression, s.Expression(k.Expression))+" AS s"+strconv.Itoa(i))
	}
	row := "nr"
	if s.tree.Grouped() {
		row = "min(nr)"
	}
	ties, _ := s.ties()
	sql := "SELECT " + strings.Join(slices.Concat(selected, []string{row + " AS rn"}, ties), ", ") + " FROM " + from
	if len(s.tree.Where) > 0 {
		sql += " WHERE " + s.Predicate(s.tree.Where)
	}
	if s.tree.Grouped() && len(groups) > 0 {
		sql += " GROUP BY " + strings.Join(groups, ", ")
	}
	return sql + s.Having(s.tree, s.Expression)
}

// orderBy sorts, where something is to be sorted by. Rows that are not sorted
// come in the order of the file by themselves, and groups by their first rows.
func (s *statement) orderBy() string {
	if s.inOrder() {
		return ""
	}
	var order []string
	for i, k := range s.tree.Sort {
		direction := " ASC NULLS LAST"
		if k.Descending {
			direction = " DESC NULLS LAST"
		}
		order = append(order, "s"+strconv.Itoa(i)+direction)
	}
	_, ties := s.ties()
	return " ORDER BY " + strings.Join(slices.Concat(order, []string{"rn"}, ties), ", ")
}

// numbered lists a0, a1 and so on.
func numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = prefix + strconv.Itoa(i)
	}
	return all
}

// quote is a text as SQL has it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

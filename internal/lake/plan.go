package lake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Plan turns a query over a version into a request to a worker. path is where
// the version's file is, from the folder of the workers on: DuckDB takes a path
// for a pattern, and this way it does not depend on what that folder is called.
// after is where the page before ended; nil means from the beginning.
//
// The rows come in the order of the source, or sorted with ties in that order,
// so that pages neither overlap nor leave anything out. The bounds of row groups
// and the numbers of rows tell the worker which parts of the file to read. All
// faults of the query are in one [feedmill.Error].
func Plan(v *Version, path string, q feedmill.Query, format wire.Format, after *Cursor) (wire.Request, error) {
	b := newBuilder(v, q)
	where := b.where()
	shown := b.fields()
	keys := b.sortKeys(shown)
	if format == wire.FormatXLSX && len(shown) > wire.MaxSheetColumns {
		b.fault(feedmill.Fault{Parameter: "format"}, fmt.Sprintf("a sheet has at most %d columns; name fewer fields, or another format", wire.MaxSheetColumns))
	}
	if after != nil && !after.fits(v, &q, len(keys)) {
		b.fault(feedmill.Fault{Parameter: "cursor"}, "belongs to another query or version; begin again without it")
		after = nil
	}
	if len(v.Columns) == 0 && len(b.faults) == 0 {
		return wire.Request{SQL: "SELECT 0 AS rn WHERE false", Format: format, Limit: q.Limit}, nil
	}
	inner := b.inner(path, where, shown, keys)
	sql := "SELECT " + names("f", len(shown)) + comma(names("s", len(keys))) + ", rn FROM (" + inner + ")"
	if after != nil {
		sql += " WHERE " + b.after(keys, after)
	}
	sql += b.orderBy(keys, shown)
	if q.Limit > 0 {
		sql += " LIMIT " + strconv.FormatInt(q.Limit+1, 10)
	}
	if len(b.faults) > 0 {
		return wire.Request{}, feedmill.Invalid("The query does not fit the columns of this feed.", b.faults...)
	}
	request := wire.Request{SQL: sql, Args: b.args, Format: format, Limit: q.Limit}
	for _, f := range shown {
		request.Names = append(request.Names, f.as)
	}
	return request, nil
}

// column is a column of the version, and what SQL calls it.
type column struct {
	*feedmill.Column
	sql string
}

// expression is something to show or to sort by.
type expression struct {
	field      string // the column's name
	as         string
	sql        string
	kind       string // its type in SQL
	aggregate  bool
	descending bool
}

// builder gathers the parts of a statement, its arguments, and faults.
type builder struct {
	query   feedmill.Query
	columns []column
	args    []string
	faults  []feedmill.Fault
}

func newBuilder(v *Version, q feedmill.Query) *builder {
	b := &builder{query: q}
	for i := range v.Columns {
		b.columns = append(b.columns, column{Column: &v.Columns[i], sql: "c" + strconv.Itoa(i)})
	}
	if len(q.Fields) == 0 {
		for i := range v.Columns {
			b.query.Fields = append(b.query.Fields, feedmill.Field{Name: v.Columns[i].Name})
		}
	}
	return b
}

// bind is the parameter that stands for a value. Values never become SQL.
func (b *builder) bind(value string) string {
	b.args = append(b.args, value)
	return "$" + strconv.Itoa(len(b.args))
}

func (b *builder) fault(place feedmill.Fault, detail string) {
	place.Detail = detail
	b.faults = append(b.faults, place)
}

// column finds a column by its name, or is nil and a fault.
func (b *builder) column(name string, place feedmill.Fault) *column {
	var all []string
	for i := range b.columns {
		if b.columns[i].Name == name {
			return &b.columns[i]
		}
		all = append(all, b.columns[i].Name)
	}
	detail := fmt.Sprintf("there is no column %q", name)
	if near := suggest.Nearest(name, all); len(near) > 0 {
		detail += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	b.fault(place, detail)
	return nil
}

// inner selects what is shown as f0, f1 and so on, what is sorted by as s0 and
// so on, and the number of the row: of a group, that of its first row.
func (b *builder) inner(path, where string, shown, keys []expression) string {
	parts := slices.Concat(aliases("f", shown), aliases("s", keys))
	// Columns are named by their place, whatever the file calls them: names
	// that differ in their case alone are the same to SQL.
	source := scan(path, len(b.columns))
	if where != "" {
		source += " WHERE " + where
	}
	if !grouped(shown) {
		return "SELECT " + strings.Join(append(parts, "nr AS rn"), ", ") + " FROM " + source
	}
	var groups []string
	for _, f := range shown {
		if !f.aggregate {
			groups = append(groups, f.sql)
		}
	}
	sql := "SELECT " + strings.Join(append(parts, "min(nr) AS rn"), ", ") + " FROM " + source
	if len(groups) > 0 {
		sql += " GROUP BY " + strings.Join(groups, ", ")
	}
	return sql
}

// scan is what SQL selects the rows of a version from: the columns c0, c1 and so
// on, and nr, the number of the row.
func scan(path string, columns int) string {
	return "read_parquet(" + quote(path) + ", file_row_number = true) AS t(" + names("c", columns) + ", nr)"
}

func grouped(shown []expression) bool {
	return slices.ContainsFunc(shown, func(e expression) bool { return e.aggregate })
}

func (b *builder) where() string {
	var all []string
	for _, c := range b.query.Where {
		col := b.column(c.Name, c.Place)
		if col == nil {
			continue
		}
		var parts []string
		for i, f := range c.Filters {
			sql, err := b.predicate(col, f)
			if err != nil {
				b.filterFault(c.Place, i, err)
				continue
			}
			parts = append(parts, sql)
		}
		if len(parts) == 0 {
			continue
		}
		glue := " AND "
		if c.Any {
			glue = " OR "
		}
		all = append(all, "("+strings.Join(parts, glue)+")")
	}
	return strings.Join(all, " AND ")
}

func (b *builder) filterFault(place feedmill.Fault, filter int, err error) {
	if place.Parameter == "" {
		place.Pointer += "/filters/" + strconv.Itoa(filter)
		if e, ok := err.(*valueError); ok && e.value != noValue {
			place.Pointer += "/values/" + strconv.Itoa(e.value)
		}
	}
	b.fault(place, err.Error())
}

// orderBy sorts, where something is to be sorted by. Rows that are not sorted
// come in the order of the file by themselves, and groups by their first rows.
func (b *builder) orderBy(keys, shown []expression) string {
	if len(keys) == 0 && !grouped(shown) {
		return ""
	}
	var order []string
	for i, k := range keys {
		direction := " ASC NULLS LAST"
		if k.descending {
			direction = " DESC NULLS LAST"
		}
		order = append(order, "s"+strconv.Itoa(i)+direction)
	}
	return " ORDER BY " + strings.Join(append(order, "rn"), ", ")
}

// names lists a0, a1 and so on.
func names(prefix string, n int) string {
	var all []string
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return strings.Join(all, ", ")
}

func aliases(prefix string, expressions []expression) []string {
	var all []string
	for i, e := range expressions {
		all = append(all, e.sql+" AS "+prefix+strconv.Itoa(i))
	}
	return all
}

func comma(list string) string {
	if list == "" {
		return ""
	}
	return ", " + list
}

// quote is a text as SQL has it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// zone is where days begin.
func (b *builder) zone() *time.Location {
	if b.query.Zone == nil {
		return time.UTC
	}
	return b.query.Zone
}

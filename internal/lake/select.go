package lake

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// Select reads what a tree asks for that was resolved over the columns of
// versions, as runs of a vector for each output. The tree joins all versions but the first.
func (r *Reader) Select(ctx context.Context, versions []*Version, t *query.Tree) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		v := joinVersions(versions, t)
		if len(v.Columns) == 0 {
			return
		}
		request := planTree(v, "", &statement{tree: t, infinite: true}, wire.FormatArrow, nil)
		request.Files = lentFiles(v.Files)
		columns := t.Columns()
		for batch, err := range r.batches(ctx, request) {
			var run []columnar.Vector
			if err == nil {
				run, err = vectors(batch, columns, nil)
			}
			if !yield(run, err) || err != nil {
				return
			}
		}
	}
}

// Explain is the statement that a tree comes to, for people: the tables and their
// columns go by their names, which they do not in what a worker is sent. With it
// are the values of its parameters. The aliases of the tables are used where the tree has joins.
func Explain(tables, aliases []string, t *query.Tree) (sql string, args []string) {
	first := ""
	if len(aliases) > 0 {
		first = aliases[0]
	}
	column := shownColumn(first, t)
	w := newWriter(duckdb.Dialect{Standard: query.Standard{Readable: true}}, t, column)
	var selected, groups, order []string
	for _, o := range t.Outputs {
		expression := w.Expression(o.Expression)
		if o.Aggregate == "" {
			groups = append(groups, expression)
		}
		if name := quoteName(o.Name); name != expression {
			expression += " AS " + name
		}
		selected = append(selected, expression)
	}
	sql = "SELECT " + strings.Join(selected, ", ") + " FROM " + shownTables(tables, aliases, t, column)
	if len(t.Where) > 0 {
		sql += " WHERE " + w.Predicate(t.Where)
	}
	if t.Grouped() && len(groups) > 0 {
		sql += " GROUP BY " + strings.Join(groups, ", ")
	}
	sql += w.Having(t, w.Expression)
	for _, k := range t.Sort {
		direction := " ASC NULLS LAST"
		if k.Descending {
			direction = " DESC NULLS LAST"
		}
		order = append(order, w.Expression(k.Expression)+direction)
	}
	if len(order) > 0 {
		sql += " ORDER BY " + strings.Join(order, ", ")
	}
	if t.Limit > 0 {
		sql += " LIMIT " + strconv.FormatInt(t.Limit, 10)
	}
	if t.Offset > 0 {
		sql += " OFFSET " + strconv.FormatInt(t.Offset, 10)
	}
	return sql, w.Args()
}

// quoteName is a name as SQL has it.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

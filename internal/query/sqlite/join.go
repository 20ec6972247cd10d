package sqlite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// JoinTable returns the table with another joined to it. The aliases are those of the first
// table and of the other.
func (t *Table) JoinTable(first, as string, other *Table) *Table {
	joined := *t
	joined.Places.Join(first, as, other.Place)
	joined.Columns = nil
	for _, c := range t.Columns {
		if c.As == "" {
			c.As = first
		}
		joined.Columns = append(joined.Columns, c)
	}
	for _, c := range other.Columns {
		c.As = as
		joined.Columns = append(joined.Columns, c)
	}
	return &joined
}

func from(p query.Place) string {
	as := "t"
	if p.As != "" {
		as = query.Quote(p.As)
	}
	if p.Select != "" {
		return p.Rows() + " AS " + as
	}
	return query.Quote("main") + "." + query.Quote(p.Name) + " AS " + as
}

// name is the column, with the alias of its table.
func (c *Column) name() string {
	if c.As == "" {
		return Name(c.Name)
	}
	return query.Quote(c.As) + "." + query.Quote(c.Name)
}

// Join compares texts by their bytes, and other values as they are read. SQLite makes an index
// for a join on a column, but not on an expression, so expressions of the joined table become
// columns of a subquery. Its limit keeps SQLite from merging it with the statement.
func (t *Table) Join(view int, on []query.Pair) (table, condition string, err error) {
	place := t.Joined[view-1]
	table = from(place)
	var made, conditions []string
	for _, p := range on {
		left, right := t.comparable(p.Left), t.comparable(p.Right)
		if t.isBlob(p.Left) != t.isBlob(p.Right) {
			return "", "", &query.CannotCompare{Pair: p, Reason: "one has bytes and the other texts. Convert one of them in a view"}
		}
		if column := &t.Columns[p.Right.Index]; right != column.name() {
			name := t.freeName(column.As, len(made))
			made = append(made, ", "+right+" AS "+query.Quote(name))
			right = query.Quote(place.As) + "." + query.Quote(name)
		}
		sql := left + " = " + right
		if p.Left.Type == columnar.TypeText {
			sql += " COLLATE BINARY"
		}
		conditions = append(conditions, sql)
	}
	if len(made) > 0 {
		list := ""
		for _, sql := range made {
			list += sql
		}
		table = "(SELECT " + query.Quote(place.As) + ".*" + list + " FROM " + table + " LIMIT -1) AS " + query.Quote(place.As)
	}
	return table, query.On(conditions), nil
}

// comparable is a column as it is joined on.
func (t *Table) comparable(c query.Column) string {
	of := &t.Columns[c.Index]
	switch {
	case c.Type == columnar.TypeText && of.Mixed:
		return "CAST(" + of.name() + " AS TEXT)"
	case c.Type == columnar.TypeTimestamp:
		return Micros + "(" + of.name() + ")"
	}
	return of.name()
}

// freeName is the name of an added column that no column of a table has.
func (t *Table) freeName(as string, n int) string {
	name := "join" + strconv.Itoa(n)
	for slices.ContainsFunc(t.Columns, func(c Column) bool { return c.As == as && strings.EqualFold(c.Name, name) }) {
		name += "_"
	}
	return name
}

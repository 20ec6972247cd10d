package mysql

import (
	"cmp"

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
	if p.Select != "" {
		return p.Rows() + " AS " + Quote(cmp.Or(p.As, "v"))
	}
	sql := Quote(p.Schema) + "." + Quote(p.Name)
	if p.As != "" {
		sql += " AS " + Quote(p.As)
	}
	return sql
}

// name is the column, with the alias of its table.
func (c *Column) name() string {
	if c.As == "" {
		return Quote(c.Name)
	}
	return Quote(c.As) + "." + Quote(c.Name)
}

// Join compares texts by their bytes in UTF-8, and other values as they are read. Where the
// columns themselves are then equal too, that is also a condition, which an index serves.
func (t *Table) Join(view int, on []query.Pair) (table, condition string, err error) {
	var conditions []string
	for _, p := range on {
		left, right := &t.Columns[p.Left.Index], &t.Columns[p.Right.Index]
		if left.Kind != right.Kind && (left.Kind == Real || right.Kind == Real) {
			return "", "", &query.CannotCompare{Pair: p, Reason: "one is a FLOAT and the other a DOUBLE. Cast one of them in a view"}
		}
		exact := t.Key(query.Expression{Column: p.Left}) + " = " + t.Key(query.Expression{Column: p.Right})
		plain := left.name() + " = " + right.name()
		conditions = append(conditions, exact)
		if exact != plain && left.isPlain(right) {
			conditions = append(conditions, plain)
		}
	}
	return from(t.Joined[view-1]), query.On(conditions), nil
}

// isPlain reports whether columns with the same values are equal as MySQL compares them.
func (c *Column) isPlain(other *Column) bool {
	if c.Kind == Text && other.Kind == Text {
		return c.convertible() && c.Charset == other.Charset && c.Collation == other.Collation
	}
	return c.Kind == other.Kind && (c.Kind == Date || c.Kind == Datetime)
}

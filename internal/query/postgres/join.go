package postgres

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
		return p.Rows() + " AS " + query.Quote(cmp.Or(p.As, "v"))
	}
	sql := query.Quote(p.Schema) + "." + query.Quote(p.Name)
	if p.As != "" {
		sql += " AS " + query.Quote(p.As)
	}
	return sql
}

// name is the column, with the alias of its table.
func (c *Column) name() string {
	if c.As == "" {
		return query.Quote(c.Name)
	}
	return query.Quote(c.As) + "." + query.Quote(c.Name)
}

// Join compares texts by their bytes, and other values as they are read.
func (t *Table) Join(view int, on []query.Pair) (table, condition string, err error) {
	conditions := make([]string, len(on))
	for i, p := range on {
		left, right := &t.Columns[p.Left.Index], &t.Columns[p.Right.Index]
		if left.isPlain(right) {
			conditions[i] = left.name() + " = " + right.name()
		} else {
			conditions[i] = t.comparable(p.Left, right.Kind) + " = " + t.comparable(p.Right, left.Kind)
		}
	}
	return from(t.Joined[view-1]), query.On(conditions), nil
}

// isPlain reports whether columns are equal as PostgreSQL compares them exactly where the
// values that are read are, so that an index serves the join.
func (c *Column) isPlain(other *Column) bool {
	switch {
	case c.Kind != other.Kind:
		return false
	case c.Kind == Text:
		return !c.Loose && !other.Loose && c.Collation == other.Collation
	case c.Kind == Cast:
		return c.Equal == EqualUUID && other.Equal == EqualUUID
	case c.Kind == Integer:
		return !c.OID && !other.OID
	}
	return c.Kind == Real || c.Kind == Boolean
}

// comparable is a column as it is compared with one of a kind.
func (t *Table) comparable(c query.Column, with Kind) string {
	sql := t.Key(query.Expression{Column: c})
	switch kind := t.Columns[c.Index].Kind; {
	case kind == Integer:
		return "CAST(" + sql + " AS int8)"
	case kind == Timestamp && with == TimestampTZ:
		return "(" + sql + ") AT TIME ZONE 'UTC'"
	case kind == Real && with == Float:
		return "CAST(CAST(" + sql + " AS text) AS float8)"
	}
	return sql
}

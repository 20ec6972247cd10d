package duckdb

import (
	"cmp"

	"github.com/feedmill/feedmill"
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
	if p.Select != "" {
		return p.Rows() + " AS " + query.Quote(cmp.Or(p.As, "v"))
	}
	sql := Attached + "." + query.Quote(p.Schema) + "." + query.Quote(p.Name)
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

// Join compares columns as they are read.
func (t *Table) Join(view int, on []query.Pair) (table, condition string, err error) {
	conditions := make([]string, len(on))
	for i, p := range on {
		if p.Left.Type == columnar.TypeDecimal {
			conditions[i] = t.decimalsEqual(p)
		} else {
			conditions[i] = t.comparable(p.Left, p.Right) + " = " + t.comparable(p.Right, p.Left)
		}
	}
	return from(t.Joined[view-1]), query.On(conditions), nil
}

// comparable is a column as it is compared with another.
func (t *Table) comparable(c, other query.Column) string {
	kind, with := t.Columns[c.Index].Kind, t.Columns[other.Index].Kind
	switch kind {
	case Real:
		if with == Float {
			return "CAST(CAST(" + t.Column(c) + " AS VARCHAR) AS DOUBLE)"
		}
		return t.Column(c)
	case Date, Timestamp, OtherTime, TimestampTZ:
		sql := bounds[kind].Key(t.Column(c))
		if (kind == TimestampTZ) != (with == TimestampTZ) {
			return "epoch_us(" + sql + ")"
		}
		return sql
	}
	return t.Column(c)
}

// decimalsEqual compares decimals, by their digits where they are of different kinds and one of
// them cannot have all values of the other.
func (t *Table) decimalsEqual(p query.Pair) string {
	left, right := t.Columns[p.Left.Index].Kind, t.Columns[p.Right.Index].Kind
	huge := func(k Kind) bool { return k == Huge || k == UnsignedHuge }
	if left == right && huge(left) {
		return t.Column(p.Left) + " = " + t.Column(p.Right)
	}
	return DecimalsEqual(p.Left.Column, p.Right.Column, t.Column(p.Left), t.Column(p.Right))
}

// DecimalsEqual compares decimals of any digits.
func DecimalsEqual(left, right *feedmill.Column, leftSQL, rightSQL string) string {
	whole := max(left.Precision-left.Scale, right.Precision-right.Scale)
	if whole+max(left.Scale, right.Scale) <= columnar.WideDigits {
		return leftSQL + " = " + rightSQL
	}
	return digits(left, leftSQL) + " = " + digits(right, rightSQL)
}

// digits is a decimal as text, without the zeros at its end.
func digits(c *feedmill.Column, sql string) string {
	sql = "CAST(" + sql + " AS VARCHAR)"
	if c.Scale == 0 {
		return sql
	}
	return "rtrim(rtrim(" + sql + ", '0'), '.')"
}

package duckdb

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// Computed writes the expressions of computed fields.
type Computed struct{}

// formulaKinds are the kinds of computed fields.
var formulaKinds = map[columnar.Type]Kind{
	columnar.TypeText: Text, columnar.TypeBoolean: Boolean, columnar.TypeInteger: Integer, columnar.TypeDecimal: Decimal, columnar.TypeDate: Date,
}

// CannotCompute is the reason why the database does not compute a formula.
func (t *Table) CannotCompute(f *query.Formulas, formula int) string {
	return f.CannotWrite(formula, Computed{})
}

// Compute adds the formulas to the columns. Their texts are the first parameters of statements.
func (t *Table) Compute(f *query.Formulas, used []int) {
	t.Columns = slices.Clip(t.Columns)
	w := &query.Written{
		Formulas: f, Dialect: Computed{},
		Column: func(c query.Column) string { return t.Key(query.Expression{Column: c}) },
		Bind: func(text string) string {
			t.bound = append(t.bound, text)
			return "CAST(" + t.Placeholder(len(t.bound)) + " AS VARCHAR)"
		},
	}
	for i := range f.List {
		c := Column{}
		if slices.Contains(used, i) {
			c = Column{Kind: formulaKinds[f.List[i].Node.Type.Kind], SQL: w.SQL(f.Columns[f.Base+i])}
		}
		t.Columns = append(t.Columns, c)
	}
}

// Bound are the values of the first parameters.
func (t *Table) Bound() []string { return t.bound }

// KindOf is the kind of a column. Those of computed fields need no special reader.
func (t *Table) KindOf(c query.Column) Kind {
	if c.Index >= len(t.Columns) {
		return Decimal
	}
	return t.Columns[c.Index].Kind
}

// Cast makes values of a type.
func (Computed) Cast(operand string, t compute.Type) string {
	if t.Kind == columnar.TypeInteger {
		return "CAST(" + operand + " AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", operand, t.Digits, t.Scale)
}

// Call writes a function.
func (c Computed) Call(n *compute.Node, args []string) (sql string, ok bool) {
	of := n.Args[0].Type.Kind
	switch n.Op {
	case "trim":
		return "trim(" + args[0] + ", ' ')", true
	case "length":
		return "CAST(length(" + args[0] + ") AS BIGINT)", true
	case "substring":
		sql := "substring(" + args[0] + ", " + compute.Position(args[1], 1, "BIGINT")
		if len(args) > 2 {
			sql += ", " + compute.Position(args[2], 0, "BIGINT")
		}
		return sql + ")", compute.IsSimple(n.Args[1:]...)
	case "abs", "floor", "ceil":
		return c.Cast(n.Op+"("+c.Cast(args[0], compute.Decimal(n.Args[0].Type))+")", n.Type), true
	case "round":
		places := compute.Places(n)
		if n.Args[0].Type.Scale <= places {
			return args[0], true
		}
		return c.Cast(fmt.Sprintf("round(%s, %d)", c.Cast(args[0], compute.Decimal(n.Args[0].Type)), places), n.Type), true
	case "year", "month", "day":
		return "CAST(" + n.Op + "(" + args[0] + ") AS BIGINT)", true
	case "daysBetween":
		return "CAST(" + args[1] + " - " + args[0] + " AS BIGINT)", true
	case "%":
		return "(" + args[0] + " % " + args[1] + ")", of == columnar.TypeInteger && n.Args[1].Type.Kind == columnar.TypeInteger
	case "toText":
		return "CAST(" + args[0] + " AS VARCHAR)", of != columnar.TypeDecimal
	case "toDecimal":
		return c.Cast(args[0], n.Type), true
	case "toDate":
		return args[0], true
	}
	return args[0], false
}

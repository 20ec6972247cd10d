package mysql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// computed writes the expressions of computed fields. Texts are their bytes in UTF-8.
type computed struct{}

// mostPlaces is how many places a decimal of MySQL has.
const mostPlaces = 30

// formulaKinds are the kinds of computed fields.
var formulaKinds = map[columnar.Type]Kind{
	columnar.TypeText: Text, columnar.TypeBoolean: Boolean, columnar.TypeInteger: Integer, columnar.TypeDecimal: Decimal, columnar.TypeDate: Date,
}

// CannotCompute is the reason why the database does not compute a formula.
func (t *Table) CannotCompute(f *query.Formulas, formula int) string {
	long := false
	f.List[formula].Node.Walk(func(n *compute.Node) { long = long || n.Type.Scale > mostPlaces })
	if long {
		return fmt.Sprintf("a value can have more than %d decimal places", mostPlaces)
	}
	return f.CannotWrite(formula, computed{})
}

// Compute adds the formulas to the columns.
func (t *Table) Compute(f *query.Formulas, used []int) {
	t.Columns = slices.Clip(t.Columns)
	w := &query.Written{
		Formulas: f, Dialect: computed{},
		Column: func(c query.Column) string { return t.Key(query.Expression{Column: c}) },
		Bind:   hexText,
	}
	for i := range f.List {
		c := Column{}
		if slices.Contains(used, i) {
			c = Column{Kind: formulaKinds[f.List[i].Node.Type.Kind], SQL: w.SQL(f.Columns[f.Base+i])}
		}
		t.Columns = append(t.Columns, c)
	}
}

// KindOf is the kind of a column. Computed texts are texts.
func (t *Table) KindOf(c query.Column) Kind {
	if c.Index >= len(t.Columns) {
		return Text
	}
	return t.Columns[c.Index].Kind
}

// hexText is a text as a literal. A parameter can have one place only, and an expression is written
// where rows are selected, grouped and sorted.
func hexText(text string) string { return fmt.Sprintf("X'%X'", text) }

// Cast makes values of a type.
func (computed) Cast(operand string, t compute.Type) string {
	if t.Kind == columnar.TypeInteger {
		return "CAST(" + operand + " AS SIGNED)"
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", operand, t.Digits, t.Scale)
}

// Call writes a function.
func (d computed) Call(n *compute.Node, args []string) (sql string, ok bool) {
	of := n.Args[0].Type
	unicode := "CONVERT(" + args[0] + " USING utf8mb4)"
	switch n.Op {
	case "trim":
		return "TRIM(BOTH X'20' FROM " + args[0] + ")", true
	case "length":
		return "CHAR_LENGTH(" + unicode + ")", true
	case "substring":
		list := []string{unicode, compute.Position(args[1], 1, "SIGNED")}
		if len(args) > 2 {
			list = append(list, compute.Position(args[2], 0, "SIGNED"))
		}
		return "CAST(SUBSTRING(" + strings.Join(list, ", ") + ") AS BINARY)", compute.IsSimple(n.Args[1:]...)
	case "abs", "floor", "ceil":
		return d.Cast(n.Op+"("+d.Cast(args[0], compute.Decimal(of))+")", n.Type), true
	case "round":
		return d.Cast(fmt.Sprintf("ROUND(%s, %d)", d.Cast(args[0], compute.Decimal(of)), compute.Places(n)), n.Type), true
	case "year", "month":
		return strings.ToUpper(n.Op) + "(" + args[0] + ")", true
	case "day":
		return "DAYOFMONTH(" + args[0] + ")", true
	case "daysBetween":
		return "DATEDIFF(" + args[1] + ", " + args[0] + ")", true
	case "%":
		return d.Cast("("+d.Cast(args[0], compute.Decimal(of))+" % "+d.Cast(args[1], compute.Decimal(n.Args[1].Type))+")", n.Type), true
	case "toText":
		switch of.Kind {
		case columnar.TypeText:
			return args[0], true
		case columnar.TypeBoolean:
			return "CASE " + args[0] + " WHEN TRUE THEN " + hexText("true") + " WHEN FALSE THEN " + hexText("false") + " END", true
		case columnar.TypeDate:
			return "CAST(DATE_FORMAT(" + args[0] + ", '%Y-%m-%d') AS BINARY)", true
		}
		return "CAST(CAST(" + args[0] + " AS CHAR) AS BINARY)", of.Kind == columnar.TypeInteger
	case "toDecimal":
		return d.Cast(args[0], n.Type), true
	case "toDate":
		return args[0], true
	}
	return args[0], false
}

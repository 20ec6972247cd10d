package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/compute"
)

// computed writes the expressions of computed fields.
type computed struct{}

// formulaKinds are the kinds of computed fields.
var formulaKinds = map[columnar.Type]Kind{
	columnar.TypeText: Text, columnar.TypeBoolean: Boolean, columnar.TypeInteger: Integer, columnar.TypeDecimal: Numeric, columnar.TypeDate: Date,
}

// CannotCompute is the reason why the database does not compute a formula.
func (t *Table) CannotCompute(f *query.Formulas, formula int) string {
	encoded := true
	f.List[formula].Node.Walk(func(n *compute.Node) { encoded = encoded && (t.UTF8 || isASCII(n.Text)) })
	if !encoded {
		return "the encoding of the database lacks a character of the expression"
	}
	return f.CannotWrite(formula, computed{})
}

// Compute adds the formulas to the columns. Their texts are the first parameters of statements.
func (t *Table) Compute(f *query.Formulas, used []int) {
	t.Columns = slices.Clip(t.Columns)
	w := &query.Written{
		Formulas: f, Dialect: computed{},
		Column: func(c query.Column) string { return t.Key(query.Expression{Column: c}) },
		Bind: func(text string) string {
			t.bound = append(t.bound, text)
			return "(CAST(" + t.Placeholder(len(t.bound)) + ` AS text) COLLATE "C")`
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

// Cast makes values of a type.
func (computed) Cast(operand string, t compute.Type) string {
	if t.Kind == columnar.TypeInteger {
		return "CAST(" + operand + " AS int8)"
	}
	return fmt.Sprintf("CAST(%s AS numeric(%d,%d))", operand, t.Digits, t.Scale)
}

// Call writes a function.
func (d computed) Call(n *compute.Node, args []string) (sql string, ok bool) {
	of := n.Args[0].Type
	switch n.Op {
	case "trim":
		return "btrim(" + args[0] + ", ' ')", true
	case "length":
		return "CAST(char_length(" + args[0] + ") AS int8)", true
	case "substring":
		list := []string{args[0], compute.Position(args[1], 1, "int4")}
		if len(args) > 2 {
			list = append(list, compute.Position(args[2], 0, "int4"))
		}
		return "substr(" + strings.Join(list, ", ") + ")", compute.IsSimple(n.Args[1:]...)
	case "abs", "floor", "ceil":
		return d.Cast(n.Op+"("+d.Cast(args[0], compute.Decimal(of))+")", n.Type), true
	case "round":
		return d.Cast(fmt.Sprintf("round(%s, %d)", d.Cast(args[0], compute.Decimal(of)), compute.Places(n)), n.Type), true
	case "year", "month", "day":
		return "CAST(extract(" + n.Op + " FROM " + args[0] + ") AS int8)", true
	case "daysBetween":
		return "CAST(" + args[1] + " - " + args[0] + " AS int8)", true
	case "%":
		return d.Cast("("+d.Cast(args[0], compute.Decimal(of))+" % "+d.Cast(args[1], compute.Decimal(n.Args[1].Type))+")", n.Type), true
	case "/":
		// The quotient of whole numbers is exact, and numeric has room for all digits.
		a, b := d.Cast(args[0], compute.Decimal(of)), d.Cast(args[1], compute.Decimal(n.Args[1].Type))
		return d.Cast(fmt.Sprintf("(sign(%[1]s) * sign(%[2]s) * div(abs(%[1]s) * 2000000000000 + abs(%[2]s), 2 * abs(%[2]s)) * 0.000000000001)", a, b), n.Type), true
	case "toText":
		if of.Kind == columnar.TypeDate {
			return "(to_char(" + args[0] + `, 'YYYY-MM-DD') COLLATE "C")`, true
		}
		return "(CAST(" + args[0] + ` AS text) COLLATE "C")`, of.Kind != columnar.TypeDecimal
	case "toDecimal":
		return d.Cast(args[0], n.Type), true
	case "toDate":
		return args[0], true
	}
	return args[0], false
}

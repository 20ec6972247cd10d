package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Dialect writes expressions for a database that computes them exactly. Operands are SQL.
type Dialect interface {
	// Cast makes values of an integer or decimal type. Operand is an expression of one, or the
	// text of a number.
	Cast(operand string, t Type) string
	// Call writes a function or an operator that databases write in different ways. It reports
	// false where the database does not compute it exactly.
	Call(n *Node, operands []string) (sql string, ok bool)
}

// CannotWrite is the reason why no database computes an expression, empty where one can.
func CannotWrite(n *Node) (reason string) {
	n.Walk(func(n *Node) {
		if reason == "" {
			reason = cannotWrite(n)
		}
	})
	return reason
}

func cannotWrite(n *Node) string {
	switch {
	case n.Fails && (n.Op == "/" || n.Op == "%"):
		return "Feedmill counts divisions by zero"
	case n.Fails:
		return "Feedmill counts conversions that fail"
	case n.Type.Kind == columnar.TypeNumber:
		return "databases compute floats in different ways"
	case n.Type.Open:
		return "the digits of its decimals are not limited"
	case n.Op == "concat":
		return "the length of its text is not limited"
	case n.Overflows:
		return "a value can have more than 38 digits"
	case n.Type.Kind == columnar.TypeTimestamp:
		return "the time zone of the query applies to its timestamps"
	case n.Type.Kind == columnar.TypeJSON:
		return "databases write JSON in different ways"
	case n.Op == "lower" || n.Op == "upper":
		return "databases have different rules for upper and lower case"
	}
	if slices.Contains([]string{"=", "!=", "<", "<=", ">", ">="}, n.Op) && n.Args[0].Type.exact() {
		if _, overflows, _ := common(n.Args[0].Type, n.Args[1].Type); overflows {
			return "the compared values can have more than 38 digits"
		}
	}
	if n.Op != "if" && n.Op != "coalesce" {
		for _, arg := range n.Args {
			if arg.Op == "null" {
				return "it has null as an operand"
			}
		}
	}
	return ""
}

// Statement writes expressions.
type Statement struct {
	Dialect Dialect
	// Field is a field, by its place among those that the expression was checked with, and Bind
	// binds a text.
	Field func(field int) string
	Bind  func(text string) string
	// Failed says that the database does not compute something exactly.
	Failed bool
}

// Write writes an expression.
func (s *Statement) Write(n *Node) string {
	args := make([]string, len(n.Args))
	for i, arg := range n.Args {
		args[i] = s.Write(arg)
	}
	switch n.Op {
	case "field":
		return s.Field(n.Field)
	case "text":
		return s.Bind(n.Text)
	case "number":
		return s.Dialect.Cast("'"+decimalDigits(n)+"'", n.Type)
	case "date":
		return "DATE '" + n.Text + "'"
	case "true", "false", "null":
		return strings.ToUpper(n.Op)
	case "and", "or":
		return "(" + condition(n.Args[0], args[0]) + " " + strings.ToUpper(n.Op) + " " + condition(n.Args[1], args[1]) + ")"
	case "not":
		return "(NOT " + condition(n.Args[0], args[0]) + ")"
	case "=", "!=", "<", "<=", ">", ">=":
		if t, _, _ := common(n.Args[0].Type, n.Args[1].Type); t.exact() {
			args[0], args[1] = s.Dialect.Cast(args[0], t), s.Dialect.Cast(args[1], t)
		}
		op := n.Op
		if op == "!=" {
			op = "<>"
		}
		return "((" + args[0] + " " + op + " " + args[1] + ") IS TRUE)"
	case "if":
		return "CASE WHEN " + condition(n.Args[0], args[0]) + " THEN " + s.typed(n, args[1]) + " ELSE " + s.typed(n, args[2]) + " END"
	case "coalesce":
		for i := range args {
			args[i] = s.typed(n, args[i])
		}
		return "coalesce(" + strings.Join(args, ", ") + ")"
	case "+", "-", "*":
		for i := range args {
			args[i] = s.Dialect.Cast(args[i], Decimal(n.Args[i].Type))
		}
		return s.Dialect.Cast("("+args[0]+" "+n.Op+" "+args[1]+")", n.Type)
	case "negative":
		return s.Dialect.Cast("(-"+s.Dialect.Cast(args[0], Decimal(n.Args[0].Type))+")", n.Type)
	}
	sql, ok := s.Dialect.Call(n, args)
	if !ok || len(sql) > maxSQL {
		s.Failed = true
		return ""
	}
	return sql
}

// maxSQL is how long a part of an expression can be in a statement.
const maxSQL = 16 << 10

// Places is how many decimal places round has.
func Places(n *Node) int {
	if len(n.Args) < 2 {
		return 0
	}
	return int(n.Args[1].Number.Int64())
}

// Position is a position or a number of characters that is not less than another, and not greater
// than a text can have.
func Position(operand string, least int, kind string) string {
	return fmt.Sprintf("CAST(CASE WHEN %[1]s < %[2]d THEN %[2]d WHEN %[1]s > 2000000000 THEN 2000000000 ELSE %[1]s END AS %[3]s)", operand, least, kind)
}

// typed is an operand as a value of the type of a node.
func (s *Statement) typed(n *Node, operand string) string {
	if n.Type.exact() && operand != "NULL" {
		return s.Dialect.Cast(operand, n.Type)
	}
	return operand
}

// Decimal is the type of decimals that holds all values of a type. It has so many digits that
// DuckDB does not compute with 64 bits.
func Decimal(t Type) Type {
	return Type{Kind: columnar.TypeDecimal, Digits: max(t.Digits, integerDigits), Scale: t.Scale}
}

// condition is a condition that is true or false, and not null.
func condition(n *Node, operand string) string {
	if n.Op == "field" || n.Op == "if" || n.Op == "coalesce" || n.Op == "null" {
		return "(" + operand + " IS TRUE)"
	}
	return operand
}

// decimalDigits writes a number with all of its places.
func decimalDigits(n *Node) string {
	digits := n.Number.String()
	if scale := n.Type.Scale; scale > 0 {
		if len(digits) <= scale {
			digits = strings.Repeat("0", scale+1-len(digits)) + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	return digits
}

// IsSimple reports whether operands are fields and numbers, which can be written several times.
func IsSimple(operands ...*Node) bool {
	for _, n := range operands {
		if n.Op == "negative" {
			n = n.Args[0]
		}
		if n.Op != "field" && n.Op != "number" {
			return false
		}
	}
	return true
}

package compute

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Field is a column that expressions can name.
type Field struct {
	// From is the alias of a joined view, empty for the view of the query.
	From   string
	Column *feedmill.Column
	// Failed says that it is a computed field with faults of its own.
	Failed bool
}

// label is the field as expressions name it.
func (f Field) label() string {
	if f.From == "" {
		return f.Column.Name
	}
	return f.From + "." + f.Column.Name
}

// Node is an expression whose fields and types are known.
type Node struct {
	// Op is that of [Syntax], "toNumber", which makes a number of an integer or decimal,
	// or "date", which is a date whose Text is checked.
	Op       string
	Args     []*Node
	Type     Type
	Position int
	// Field is the place of a field among those that the expression was checked with.
	Field int
	// Text is the value of a text, and Number that of a number without its point.
	Text   string
	Number *big.Int
	// Overflows says that the result can have too many digits, and Fails that it can be null
	// with a warning.
	Overflows, Fails bool
}

// Check finds the fields of an expression and the types of its parts. All faults are found. The
// node is nil if there are any, or if a field is at fault that the expression names.
func Check(s *Syntax, fields []Field) (*Node, []*Fault) {
	c := &checker{fields: fields}
	n := c.check(s)
	switch {
	case n == nil:
	case n.Type.Kind == "":
		c.fault(s.Position, "The expression is always null. Use a field or a value.")
		n = nil
	case n.Type.Kind == columnar.TypeJSON:
		c.fault(s.Position, "The expression has the type json @. Select the field itself, or use toText.")
		n = nil
	}
	return n, c.faults
}

// Walk calls visit for a node and all of its parts.
func (n *Node) Walk(visit func(*Node)) {
	visit(n)
	for _, arg := range n.Args {
		arg.Walk(visit)
	}
}

// checker collects faults. A part at fault is nil, and so is what contains it.
type checker struct {
	fields []Field
	faults []*Fault
}

func (c *checker) fault(position int, format string, args ...any) {
	c.faults = append(c.faults, fault(position, format, args...))
}

func (c *checker) check(s *Syntax) *Node {
	n := &Node{Op: s.Op, Position: s.Position}
	switch {
	case s.call:
		return c.call(s, n)
	case s.Op == "field":
		return c.field(s, n)
	case s.Op == "text":
		n.Text, n.Type = s.Name, typeText
	case s.Op == "number":
		return c.number(s, n)
	case s.Op == "true", s.Op == "false":
		n.Type = typeBoolean
	case s.Op == "null":
	default:
		if !c.arguments(s, n) {
			return nil
		}
		return c.operator(n)
	}
	return n
}

// arguments checks the operands of an expression.
func (c *checker) arguments(s *Syntax, n *Node) bool {
	ok := true
	for _, arg := range s.Args {
		checked := c.check(arg)
		n.Args = append(n.Args, checked)
		ok = ok && checked != nil
	}
	return ok
}

// field finds a field.
func (c *checker) field(s *Syntax, n *Node) *Node {
	for i, f := range c.fields {
		if f.From == s.From && f.Column.Name == s.Name {
			if n.Field, n.Type = i, typeOf(f.Column); f.Failed {
				return nil
			}
			return n
		}
	}
	name := s.Name
	if s.From != "" {
		name = s.From + "." + s.Name
	}
	var all []string
	for _, f := range c.fields {
		all = append(all, f.label())
	}
	var near []string
	for _, label := range all { // a field of a joined view, without its alias
		if s.From == "" && strings.HasSuffix(label, "."+s.Name) {
			near = append(near, label)
		}
	}
	if len(near) == 0 {
		near = suggest.Nearest(name, all)
	}
	detail := "Unknown field " + name + " " + fmt.Sprintf("at %d.", s.Position)
	switch {
	case len(near) > 0:
		detail += " Did you mean " + strings.Join(near, " or ") + "?"
	case s.quoted:
		detail += " Write texts in single quotes."
	}
	c.faults = append(c.faults, &Fault{s.Position, detail})
	return nil
}

// number reads a number.
func (c *checker) number(s *Syntax, n *Node) *Node {
	whole, places, _ := strings.Cut(s.Name, ".")
	digits := strings.TrimLeft(whole, "0") + places
	if len(digits) > maxDigits {
		c.fault(s.Position, "The number @ has more than %[1]d digits, the maximum.", maxDigits)
		return nil
	}
	n.Number, _ = new(big.Int).SetString("0"+digits, 10)
	n.Type, _ = calculated(max(1, len(digits)-len(places)), len(places), len(places) == 0, false)
	return n
}

// operator checks the types of an operator's operands.
func (c *checker) operator(n *Node) *Node {
	switch n.Op {
	case "and", "or", "not":
		if !c.need(n, typeBoolean) {
			return nil
		}
		n.Type = typeBoolean
	case "=", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	default:
		return c.arithmetic(n)
	}
	return n
}

// need checks that all operands have a type. Null has every type.
func (c *checker) need(n *Node, t Type) bool {
	ok := true
	for _, arg := range n.Args {
		if arg.Type.Kind != t.Kind && arg.Type.Kind != "" {
			c.fault(arg.Position, "The operand @ of %s must be %s; it has the type %s."+hint(t, arg.Type), n.Op, article(t), arg.Type)
			ok = false
		}
	}
	return ok
}

// hint says how to convert a value.
func hint(to, from Type) string {
	switch {
	case to.Kind == columnar.TypeText:
		return " Use toText."
	case to.numeric() && from.Kind == columnar.TypeText:
		return " Use toDecimal."
	case to.temporal() && from.Kind == columnar.TypeText:
		return " Use toDate."
	case to.Kind == columnar.TypeBoolean:
		return " Use a comparison, such as amount > 0."
	}
	return ""
}

func article(t Type) string {
	if t.Kind == columnar.TypeInteger {
		return "an integer"
	}
	return "a " + string(t.Kind)
}

func (c *checker) comparison(n *Node) *Node {
	a, b := n.Args[0], n.Args[1]
	n.Type = typeBoolean
	if a.Type.Kind == "" || b.Type.Kind == "" {
		c.fault(n.Position, "A comparison with null is never true @. Use coalesce, or the filter isNull.")
		return nil
	}
	t, _, ok := common(a.Type, b.Type)
	switch {
	case !ok && a.Type.temporal() && b.Type.temporal():
		c.fault(n.Position, "A date cannot be compared with a timestamp @. Use toDate for the timestamp.")
		return nil
	case !ok:
		convert := hint(a.Type, b.Type)
		if b.Type.Kind != columnar.TypeText {
			convert = hint(b.Type, a.Type)
		}
		c.fault(n.Position, "The comparison @ has operands of the types %s and %s."+convert, a.Type, b.Type)
		return nil
	case t.Kind == columnar.TypeBoolean && n.Op != "=" && n.Op != "!=":
		c.fault(n.Position, "Booleans have no order @. Use = or !=.")
		return nil
	}
	n.Args = []*Node{converted(a, t), converted(b, t)}
	return n
}

// converted is a node whose values are numbers where the type is number.
func converted(n *Node, t Type) *Node {
	if t.Kind != columnar.TypeNumber || n.Type.Kind == columnar.TypeNumber || n.Type.Kind == "" {
		return n
	}
	return &Node{Op: "toNumber", Args: []*Node{n}, Type: typeNumber, Position: n.Position}
}

func (c *checker) arithmetic(n *Node) *Node {
	ok, number, open, integers := true, false, false, true
	for _, arg := range n.Args {
		t := arg.Type
		if !t.numeric() {
			c.fault(arg.Position, "The operand @ of %s must be a number; it has the type %s."+hint(typeNumber, t), symbolOf(n.Op), t)
			ok = false
		}
		number, open, integers = number || t.Kind == columnar.TypeNumber, open || t.Open, integers && t.Kind == columnar.TypeInteger
	}
	if !ok {
		return nil
	}
	a, b := n.Args[0].Type, n.Args[len(n.Args)-1].Type
	n.Fails = (n.Op == "/" || n.Op == "%") && !isNonzero(n.Args[1])
	if number {
		for i, arg := range n.Args {
			n.Args[i] = converted(arg, typeNumber)
		}
		n.Type, n.Overflows = typeNumber, n.Op != "negative" && n.Op != "%"
		return n
	}
	scale := max(a.Scale, b.Scale)
	switch n.Op {
	case "negative":
		n.Type, n.Overflows = calculated(a.whole(), a.Scale, integers, open)
	case "+", "-":
		n.Type, n.Overflows = calculated(max(a.whole(), b.whole())+1, scale, integers, open)
	case "*":
		if scale = a.Scale + b.Scale; scale > maxDigits {
			c.fault(n.Position, "The product @ has %d decimal places; a decimal has at most %d. Use round.", scale, maxDigits)
			return nil
		}
		n.Type, n.Overflows = calculated(a.whole()+b.whole(), scale, integers, open)
	case "/":
		if n.Type, n.Overflows = calculated(a.whole()+b.Scale, divisionPlaces, false, false); open {
			n.Type, n.Overflows = typeConverted, true
		}
	case "%":
		n.Type, n.Overflows = calculated(min(a.whole(), b.whole()), scale, integers, open)
	}
	return n
}

// symbolOf is an operator as users write it.
func symbolOf(op string) string {
	if op == "negative" {
		return "-"
	}
	return op
}

// isNonzero reports whether a node is a number other than zero.
func isNonzero(n *Node) bool {
	for n.Op == "negative" || n.Op == "toNumber" {
		n = n.Args[0]
	}
	return n.Op == "number" && n.Number.Sign() != 0
}

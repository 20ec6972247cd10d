package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/suggest"
)

// many is the number of arguments of a function that takes as many as fit.
const many = 1000

// function is a function of expressions.
type function struct {
	name string
	// least and most are how many arguments it has.
	least, most int
	// usage has the arguments, and meaning describes the result, both for users.
	usage, meaning string
	// check finds the type of a call whose arguments are checked. It reports false after a
	// fault.
	check func(c *checker, n *Node) bool
	eval  func(e *compiler, n *Node) eval
}

// functions lists all functions.
var functions []*function

func init() { // evaluation refers to the table
	functions = []*function{
		{"if", 3, 3, "condition, a, b", "*a* if the condition is true, and otherwise *b*. Only that one is computed.", checkIf, evalIf},
		{"coalesce", 2, many, "a, b, …", "The first value that is not null. The values after it are not computed.", checkCommon(0), evalCoalesce},
		{"concat", 1, many, "text, …", "The texts, one after the other. A null is an empty text.", texts(typeText), evalConcat},
		{"lower", 1, 1, "text", "The text in lower case. Each character becomes its lower-case character in Unicode, in every language.", texts(typeText), evalText(lower)},
		{"upper", 1, 1, "text", "The text in upper case, by the same rule.", texts(typeText), evalText(upper)},
		{"trim", 1, 1, "text", "The text without spaces (U+0020) at its start and end.", texts(typeText), evalText(trim)},
		{"substring", 2, 3, "text, start, length", "A part of the text. The first character is at 1. Without a length it extends to the end. A start below 1 is 1; a length below 0 is 0.", checkSubstring, evalSubstring},
		{"length", 1, 1, "text", "The number of characters (Unicode code points).", texts(integer(10)), evalLength},
		{"round", 1, 2, "number, places", "The number rounded to some decimal places (0 to 12, default 0), halves away from zero.", checkRound, evalRound},
		{"floor", 1, 1, "number", "The greatest whole number that is not greater.", checkWhole, evalWhole(-1)},
		{"ceil", 1, 1, "number", "The smallest whole number that is not smaller.", checkWhole, evalWhole(1)},
		{"abs", 1, 1, "number", "The number without its sign.", checkAbs, evalAbs},
		{"year", 1, 1, "date", "The year of a date or timestamp.", checkPart(5), evalPart(yearOf)},
		{"month", 1, 1, "date", "The month, 1 to 12.", checkPart(2), evalPart(monthOf)},
		{"day", 1, 1, "date", "The day of the month, 1 to 31.", checkPart(2), evalPart(dayOf)},
		{"daysBetween", 2, 2, "from, to", "The number of days from the first date or timestamp to the second.", checkPart(7), evalDaysBetween},
		{"toText", 1, 1, "value", "The value as text. Numbers have no trailing zeros, and timestamps are in UTC.", checkToText, evalToText},
		{"toDecimal", 1, 1, "value", "A number, or a text such as `-12.5`, as a decimal of up to 26 digits before and 12 digits after the point.", checkToDecimal, evalToDecimal},
		{"toDate", 1, 1, "value", "The day of a timestamp, or the date of a text such as `2026-01-31`.", checkToDate, evalToDate},
	}
}

// Described is a function as the reference lists it.
type Described struct{ Usage, Meaning string }

// Functions describes all functions.
func Functions() []Described {
	all := make([]Described, len(functions))
	for i, f := range functions {
		all[i] = Described{f.name + "(" + f.usage + ")", f.meaning}
	}
	return all
}

func findFunction(name string) *function {
	i := slices.IndexFunc(functions, func(f *function) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return functions[i]
}

// call checks a call.
func (c *checker) call(s *Syntax, n *Node) *Node {
	f := findFunction(s.Op)
	ok := c.arguments(s, n)
	switch {
	case f == nil:
		var names []string
		for _, f := range functions {
			names = append(names, f.name)
		}
		detail := fmt.Sprintf("Unknown function %s at %d.", s.Op, s.Position)
		if near := suggest.Nearest(s.Op, names); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		} else {
			detail += " Use one of " + strings.Join(names, ", ") + "."
		}
		c.faults = append(c.faults, &Fault{s.Position, detail})
		return nil
	case len(s.Args) < f.least || len(s.Args) > f.most:
		c.fault(s.Position, "The function @ must have %s; it has %d. Write %s(%s).", f.arguments(), len(s.Args), f.name, f.usage)
		return nil
	case !ok || !f.check(c, n):
		return nil
	}
	return n
}

// arguments says how many arguments a function has.
func (f *function) arguments() string {
	switch {
	case f.most == many && f.least == 1:
		return "at least 1 argument"
	case f.most == many:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d or %d arguments", f.least, f.most)
	case f.least == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.least)
}

// texts checks that all arguments are texts.
func texts(result Type) func(*checker, *Node) bool {
	return func(c *checker, n *Node) bool {
		n.Type = result
		n.Overflows = n.Op == "concat"
		return c.need(n, typeText)
	}
}

func checkIf(c *checker, n *Node) bool {
	condition := &Node{Op: "if", Args: n.Args[:1]}
	return c.need(condition, typeBoolean) && checkCommon(1)(c, n)
}

// checkCommon finds the type that all arguments from one on have in common.
func checkCommon(from int) func(*checker, *Node) bool {
	return func(c *checker, n *Node) bool {
		t, open := Type{}, false
		for _, arg := range n.Args[from:] {
			next, overflows, ok := common(t, arg.Type)
			if !ok {
				if arg.Type.Kind == columnar.TypeJSON {
					c.fault(arg.Position, "The value @ of %s has the type json. Use toText.", n.Op)
				} else {
					c.fault(arg.Position, "The values of %s must have one type; %s @ does not fit %s."+hint(t, arg.Type), n.Op, arg.Type, t)
				}
				return false
			}
			t, open = next, open || overflows
		}
		if t.Kind == columnar.TypeJSON {
			c.fault(n.Position, "The value @ of %s has the type json. Use toText.", n.Op)
			return false
		}
		n.Type, n.Overflows = t, open
		for i := range n.Args[from:] {
			n.Args[from+i] = converted(n.Args[from+i], t)
		}
		return true
	}
}

func (c *checker) needWhole(n *Node, arg *Node) bool {
	if arg.Type.Kind != columnar.TypeInteger && arg.Type.Kind != "" {
		c.fault(arg.Position, "The argument @ of %s must be an integer; it has the type %s. Use round, floor or ceil.", n.Op, arg.Type)
		return false
	}
	return true
}

func checkSubstring(c *checker, n *Node) bool {
	n.Type = typeText
	ok := c.need(&Node{Op: n.Op, Args: n.Args[:1]}, typeText)
	for _, arg := range n.Args[1:] {
		ok = c.needWhole(n, arg) && ok
	}
	return ok
}

// needNumber checks that the first argument is a number.
func (c *checker) needNumber(n *Node) bool {
	t := n.Args[0].Type
	if !t.numeric() {
		c.fault(n.Args[0].Position, "The argument @ of %s must be a number; it has the type %s."+hint(typeNumber, t), n.Op, t)
	}
	return t.numeric()
}

func checkRound(c *checker, n *Node) bool {
	if !c.needNumber(n) {
		return false
	}
	places := 0
	if len(n.Args) > 1 {
		p := n.Args[1]
		if p.Op != "number" || p.Type.Scale > 0 || p.Number.Sign() < 0 || !p.Number.IsInt64() || p.Number.Int64() > divisionPlaces {
			c.fault(p.Position, "The decimal places of round must be a number from 0 to %d @.", divisionPlaces)
			return false
		}
		places = int(p.Number.Int64())
	}
	t := n.Args[0].Type
	switch {
	case t.Kind == columnar.TypeNumber, t.Kind == columnar.TypeInteger:
		n.Type = t
	case t.Open:
		n.Type, n.Overflows = Type{Kind: t.Kind, Digits: maxDigits, Scale: places}, true
	case t.Scale <= places:
		n.Type = t
	default:
		n.Type, n.Overflows = calculated(t.whole()+1, places, places == 0, false)
	}
	return true
}

func checkWhole(c *checker, n *Node) bool {
	if !c.needNumber(n) {
		return false
	}
	t := n.Args[0].Type
	switch {
	case t.Kind == columnar.TypeNumber, t.Kind == columnar.TypeInteger:
		n.Type = t
	case t.Open:
		n.Type, n.Overflows = Type{Kind: t.Kind, Digits: maxDigits}, true
	case t.Scale == 0:
		n.Type = t
	default:
		n.Type, n.Overflows = calculated(t.whole()+1, 0, true, false)
	}
	return true
}

func checkAbs(c *checker, n *Node) bool {
	if !c.needNumber(n) {
		return false
	}
	t := n.Args[0].Type
	if n.Type = t; t.exact() {
		n.Type, n.Overflows = calculated(t.whole(), t.Scale, t.Kind == columnar.TypeInteger, t.Open)
	}
	return true
}

// checkPart is the check of functions of dates, whose results have a number of digits.
func checkPart(digits int) func(*checker, *Node) bool {
	return func(c *checker, n *Node) bool {
		n.Type = integer(digits)
		ok := true
		for _, arg := range n.Args {
			if t := arg.Type; !t.temporal() && t.Kind != "" {
				c.fault(arg.Position, "The argument @ of %s must be a date or timestamp; it has the type %s."+hint(typeDate, t), n.Op, t)
				ok = false
			}
		}
		return ok
	}
}

func checkToText(_ *checker, n *Node) bool {
	n.Type = typeText
	return true
}

func checkToDecimal(c *checker, n *Node) bool {
	t := n.Args[0].Type
	n.Type = typeConverted
	switch {
	case t.Kind == columnar.TypeInteger:
		n.Type = Type{Kind: columnar.TypeDecimal, Digits: t.Digits}
	case t.Kind == columnar.TypeDecimal && !t.Open:
		n.Type = t
	case t.numeric(), t.Kind == columnar.TypeText, t.Kind == "":
		n.Fails = true
	default:
		c.fault(n.Args[0].Position, "The argument @ of toDecimal must be a text or a number; it has the type %s.", t)
		return false
	}
	return true
}

func checkToDate(c *checker, n *Node) bool {
	t := n.Args[0].Type
	n.Type = typeDate
	if text := n.Args[0]; text.Op == "text" {
		if _, ok := parseDate(text.Text); !ok {
			c.fault(text.Position, "The text @ is not a date. Write it as 2026-01-31.")
			return false
		}
		n.Op, n.Text, n.Args = "date", text.Text, nil
		return true
	}
	switch t.Kind {
	case columnar.TypeText, columnar.TypeTimestamp:
		n.Fails = true
	case columnar.TypeDate, "":
	default:
		c.fault(n.Args[0].Position, "The argument @ of toDate must be a text or a timestamp; it has the type %s.", t)
		return false
	}
	return true
}

package jsonpath

import (
	"fmt"
	"unicode/utf8"

	regular "github.com/feedmill/feedmill/internal/pattern"
)

// function is one of the five functions of RFC 9535.
type function struct {
	// ofNodes says that the argument is a query that may select many values;
	// otherwise every argument is a single value.
	ofNodes bool
	params  int
	// logical says that the function is true or false and stands alone in a
	// filter; the others are compared with something.
	logical bool
}

var functions = map[string]function{
	"length": {params: 1},
	"count":  {params: 1, ofNodes: true},
	"value":  {params: 1, ofNodes: true},
	"match":  {params: 2, logical: true},
	"search": {params: 2, logical: true},
}

// call is a function with its arguments.
type call struct {
	name    string
	args    []operand
	nodes   *query   // the argument of a function of nodes
	pattern *pattern // the second argument of match and search where it is a literal
}

// value is what length, count and value give.
func (c *call) value(e *evaluation, at Node) (value, error) {
	if c.name == "length" {
		v, err := c.args[0].value(e, at)
		if err != nil {
			return value{}, err
		}
		switch v.kind {
		case String:
			if err := e.spendText(len(v.text)); err != nil {
				return value{}, err
			}
			return numberValue(utf8.RuneCount(v.text)), nil
		case Array, Object:
			return numberValue(int(e.tree.nodes[v.node].count)), nil
		}
		return value{}, nil
	}
	nodes, err := c.nodes.nodes(e, at)
	switch {
	case err != nil:
		return value{}, err
	case c.name == "count":
		return numberValue(len(nodes)), nil
	case len(nodes) == 1:
		return e.tree.value(nodes[0]), nil
	}
	return value{}, nil
}

// test is what match and search give.
func (c *call) test(e *evaluation, at Node) (bool, error) {
	text, err := c.args[0].value(e, at)
	if err != nil || text.kind != String {
		return false, err
	}
	p := c.pattern
	if p == nil {
		v, err := c.args[1].value(e, at)
		if err != nil || v.kind != String {
			return false, err
		}
		if err := e.spend(compileSteps * (1 + min(len(v.text), regular.MaxBytes))); err != nil {
			return false, err
		}
		if p, err = compilePattern(string(v.text)); err != nil {
			return false, nil
		}
	}
	if c.name == "match" {
		return e.match(p.whole, p, text.text)
	}
	return e.match(p.anywhere, p, text.text)
}

// call reads the arguments of a function whose name was read from start on.
func (p *parser) call(name string, start int) *call {
	f, ok := functions[name]
	if !ok {
		p.fail(start, fmt.Sprintf("%s is not a function; use length, count, match, search or value", name))
	}
	p.enter()
	defer p.leave()
	p.expect("(")
	c := &call{name: name}
	for n := range f.params {
		p.blanks()
		at := p.pos
		if n > 0 {
			p.expect(",")
			p.blanks()
			at = p.pos
		}
		if p.peek() == ')' {
			p.fail(p.pos, fmt.Sprintf("%s requires %s", name, arguments(f.params)))
		}
		arg := p.operand()
		if f.ofNodes {
			c.nodes, ok = arg.(*query)
			if !ok {
				p.fail(at, fmt.Sprintf("the argument of %s must be a path that starts with @ or $", name))
			}
			continue
		}
		p.mustBeValue(arg, at)
		c.args = append(c.args, arg)
		if literal, ok := arg.(value); ok && f.logical && n == 1 && literal.kind == String {
			compiled, err := compilePattern(string(literal.text))
			if err != nil {
				p.fail(at, fmt.Sprintf("the pattern is not valid: %v", err))
			}
			c.pattern = compiled
		}
	}
	p.blanks()
	if p.peek() == ',' {
		p.fail(p.pos, fmt.Sprintf("%s requires %s", name, arguments(f.params)))
	}
	p.expect(")")
	return c
}

func arguments(n int) string {
	if n == 1 {
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

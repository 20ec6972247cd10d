package compute

import (
	"strings"

	"github.com/feedmill/feedmill"
)

// Syntax is an expression as it was written.
type Syntax struct {
	// Op is "field", "text", "number", "true", "false", "null", "negative", "not", an operator
	// or the name of a function.
	Op   string
	Args []*Syntax
	// From and Name are those of a field. Name is also a text or a number.
	From, Name string
	Position   int
	// quoted says that a field is in quotes, and call that it is a call of a function.
	quoted, call bool
	level        int
}

// Parse reads an expression.
func Parse(source string) (*Syntax, *Fault) {
	tokens, fail := scan(source)
	if fail != nil {
		return nil, fail
	}
	p := &parser{tokens: tokens}
	if p.token().kind == tokenEnd {
		return nil, fault(1, "The expression is empty.")
	}
	s, fail := p.binary(0)
	if fail == nil && p.token().kind != tokenEnd {
		return nil, p.unexpected()
	}
	return s, fail
}

// parser reads tokens.
type parser struct {
	tokens []token
	nested int
}

func (p *parser) token() token { return p.tokens[0] }

func (p *parser) advance() token {
	t := p.tokens[0]
	if t.kind != tokenEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) unexpected() *Fault {
	t := p.token()
	switch {
	case t.kind == tokenName && isKeyword(strings.ToLower(t.text)) && !isKeyword(t.text):
		return fault(t.position, "Unexpected %s @. Write %s in lower case.", t, strings.ToLower(t.text))
	case t.kind == tokenEnd:
		return fault(t.position, "The expression ends too early @.")
	}
	return fault(t.position, "Unexpected %s @.", t)
}

func isKeyword(text string) bool {
	switch text {
	case "and", "or", "not", "true", "false", "null":
		return true
	}
	return false
}

// precedence has the binary operators that bind equally, the weakest first. not is between
// the second and the third.
var precedence = [][]string{{"or"}, {"and"}, {"=", "!=", "<>", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}}

const comparisonLevel = 2

// binary reads operators from a level on.
func (p *parser) binary(level int) (*Syntax, *Fault) {
	if level == len(precedence) {
		return p.unary()
	}
	if level == comparisonLevel && p.token().is("not") {
		return p.prefix("not", comparisonLevel)
	}
	left, fail := p.binary(level + 1)
	for n := 0; fail == nil && p.operator(level); n++ {
		t := p.advance()
		if level == comparisonLevel && n > 0 {
			return nil, fault(t.position, "Unexpected %s @. Combine comparisons with and.", t)
		}
		op := t.text
		if op == "<>" {
			op = "!="
		}
		var right *Syntax
		if right, fail = p.binary(level + 1); fail == nil {
			left, fail = p.node(&Syntax{Op: op, Args: []*Syntax{left, right}, Position: t.position})
		}
	}
	return left, fail
}

// operator reports whether the token is an operator of a level.
func (p *parser) operator(level int) bool {
	for _, op := range precedence[level] {
		if p.token().is(op) {
			return true
		}
	}
	return false
}

// prefix reads an operator in front of an operand of a level.
func (p *parser) prefix(op string, level int) (*Syntax, *Fault) {
	t := p.advance()
	if fail := p.enter(t); fail != nil {
		return nil, fail
	}
	defer p.leave()
	of, fail := p.binary(level)
	if fail != nil {
		return nil, fail
	}
	return p.node(&Syntax{Op: op, Args: []*Syntax{of}, Position: t.position})
}

func (p *parser) unary() (*Syntax, *Fault) {
	switch {
	case p.token().is("-"):
		return p.prefix("negative", len(precedence))
	case p.token().is("+"):
		return nil, p.unexpected()
	}
	return p.operand()
}

// operand reads a value, a field, a call, or an expression in parentheses.
func (p *parser) operand() (*Syntax, *Fault) {
	t := p.token()
	s := &Syntax{Name: t.text, Position: t.position, level: 1}
	switch {
	case t.kind == tokenText:
		s.Op = "text"
	case t.kind == tokenNumber:
		s.Op = "number"
	case t.is("true") || t.is("false") || t.is("null"):
		s.Op = t.text
	case t.is("("):
		p.advance()
		if fail := p.enter(t); fail != nil {
			return nil, fail
		}
		defer p.leave()
		inner, fail := p.binary(0)
		if fail == nil {
			fail = p.need(")")
		}
		return inner, fail
	case t.kind == tokenQuoted, t.kind == tokenName && !isKeyword(t.text):
		return p.name()
	default:
		return nil, p.unexpected()
	}
	p.advance()
	return s, nil
}

// name reads a field or a call.
func (p *parser) name() (*Syntax, *Fault) {
	t := p.advance()
	s := &Syntax{Op: "field", Name: t.text, Position: t.position, quoted: t.kind == tokenQuoted, level: 1}
	if p.token().is("(") && t.kind == tokenName {
		return p.arguments(t)
	}
	if p.token().is(".") {
		p.advance()
		of := p.advance()
		if of.kind != tokenQuoted && of.kind != tokenName {
			return nil, fault(of.position, `Unexpected %s @. After the alias %s, write the name of a field, such as %s.total or %s."Order Total".`, of, t.text, t.text, t.text)
		}
		s.From, s.Name = t.text, of.text
	}
	return s, nil
}

// arguments reads the arguments of a function.
func (p *parser) arguments(t token) (*Syntax, *Fault) {
	p.advance()
	if fail := p.enter(t); fail != nil {
		return nil, fail
	}
	defer p.leave()
	s := &Syntax{Op: t.text, Position: t.position, call: true}
	for !p.token().is(")") {
		if len(s.Args) > 0 {
			if fail := p.need(","); fail != nil {
				return nil, fail
			}
		}
		arg, fail := p.binary(0)
		if fail != nil {
			return nil, fail
		}
		s.Args = append(s.Args, arg)
	}
	p.advance()
	return p.node(s)
}

func (p *parser) need(symbol string) *Fault {
	if t := p.token(); !t.is(symbol) {
		return fault(t.position, "Unexpected %s @. A %s is missing.", t, symbol)
	}
	p.advance()
	return nil
}

// enter and leave count how deep the parser is.
func (p *parser) enter(t token) *Fault {
	if p.nested++; p.nested > maxDepth {
		return tooDeep(t.position)
	}
	return nil
}

func (p *parser) leave() { p.nested-- }

// node counts the levels of an expression.
func (p *parser) node(s *Syntax) (*Syntax, *Fault) {
	s.level = 1
	for _, arg := range s.Args {
		s.level = max(s.level, arg.level+1)
	}
	if s.level > maxDepth {
		return nil, tooDeep(s.Position)
	}
	return s, nil
}

func tooDeep(position int) *Fault {
	return fault(position, "The expression has more than %[1]d levels @, the maximum. Split it into several computed fields.", maxDepth)
}

// Names lists the fields that an expression names. A fault hides the names after it.
func Names(source string) (names []feedmill.FieldName) {
	s, fail := Parse(source)
	if fail != nil {
		return nil
	}
	s.walk(func(s *Syntax) {
		if s.Op == "field" && !s.call {
			names = append(names, feedmill.FieldName{From: s.From, Name: s.Name})
		}
	})
	return names
}

func (s *Syntax) walk(visit func(*Syntax)) {
	visit(s)
	for _, arg := range s.Args {
		arg.walk(visit)
	}
}

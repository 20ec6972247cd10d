package jsonpath

import "strings"

// logical reads a whole filter expression.
func (p *parser) logical() expression {
	p.enter()
	defer p.leave()
	terms := anyOf{p.conjunction()}
	for p.operator("||") {
		terms = append(terms, p.conjunction())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return terms
}

func (p *parser) conjunction() expression {
	terms := allOf{p.basic()}
	for p.operator("&&") {
		terms = append(terms, p.basic())
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return terms
}

// operator reads a token with the blanks around it, or nothing.
func (p *parser) operator(token string) bool {
	before := p.pos
	p.blanks()
	if !p.accept(token) {
		p.pos = before
		return false
	}
	p.blanks()
	return true
}

// basic reads what stands between && and ||.
func (p *parser) basic() expression {
	negated := p.accept("!")
	if negated {
		p.blanks()
	}
	start := p.pos
	if p.accept("(") {
		p.blanks()
		inner := p.logical()
		p.blanks()
		p.expect(")")
		if negated {
			return not{inner}
		}
		return inner
	}
	left := p.operand()
	if operator := p.comparator(); operator != "" {
		if negated {
			p.fail(start, "put the comparison after ! in parentheses")
		}
		p.mustBeValue(left, start)
		at := p.pos
		right := p.operand()
		p.mustBeValue(right, at)
		return comparison{operator: operator, left: left, right: right}
	}
	test := p.mustBeTest(left, start)
	if negated {
		return not{test}
	}
	return test
}

// comparator reads a comparison operator with the blanks around it, or nothing.
func (p *parser) comparator() string {
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.operator(operator) {
			return operator
		}
	}
	return ""
}

// mustBeValue refuses what can be more than one value or none that compares.
func (p *parser) mustBeValue(x operand, at int) {
	switch x := x.(type) {
	case *query:
		if !x.singular() {
			p.fail(at, "the path can select more than one value; use only names and indexes, or wrap it in count() or value()")
		}
	case *call:
		if functions[x.name].logical {
			p.fail(at, x.name+" returns true or false and cannot be compared")
		}
	}
}

// mustBeTest refuses what is neither true nor false by itself.
func (p *parser) mustBeTest(x operand, at int) expression {
	switch x := x.(type) {
	case *query:
		return x
	case *call:
		if functions[x.name].logical {
			return x
		}
		p.fail(at, x.name+" returns a value; compare it with another value")
	}
	p.fail(at, "compare the literal with another value")
	return nil
}

// operand reads a literal, a path or a function call.
func (p *parser) operand() operand {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return value{kind: String, text: []byte(p.quoted())}
	case p.atInteger():
		return p.number()
	case c == '@' || c == '$':
		p.pos++
		p.enter()
		defer p.leave()
		return &query{absolute: c == '$', segments: p.segments()}
	case c >= 'a' && c <= 'z':
		return p.word()
	}
	p.fail(p.pos, "expected a path that starts with @ or $, a literal or a function, found "+p.found())
	return nil
}

// word reads true, false, null or a function call.
func (p *parser) word() operand {
	start := p.pos
	for {
		c := p.peek()
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			break
		}
		p.pos++
	}
	word := p.text[start:p.pos]
	if p.peek() == '(' {
		return p.call(word, start)
	}
	switch word {
	case "true":
		return value{kind: True}
	case "false":
		return value{kind: False}
	case "null":
		return value{kind: Null}
	}
	p.fail(start, "expected true, false, null or a function; put text in quotes")
	return nil
}

func (p *parser) number() operand {
	start := p.pos
	p.accept("-")
	whole := p.digits()
	switch {
	case whole == 0:
		p.fail(p.pos, "expected a digit, found "+p.found())
	case whole > 1 && p.text[p.pos-whole] == '0':
		p.fail(start, "a number must not start with 0")
	}
	if p.accept(".") && p.digits() == 0 {
		p.fail(p.pos, "expected a digit after the decimal point, found "+p.found())
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if strings.IndexByte("+-", p.peek()) >= 0 {
			p.pos++
		}
		if p.digits() == 0 {
			p.fail(p.pos, "expected a digit in the exponent, found "+p.found())
		}
	}
	return value{kind: Number, text: []byte(p.text[start:p.pos])}
}

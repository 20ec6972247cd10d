package jsonpath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	regular "github.com/feedmill/feedmill/internal/pattern"
)

// pattern is an I-Regexp in the two ways it is used.
type pattern struct {
	whole, anywhere *regexp.Regexp
	// steps is how many its program has.
	steps int
}

const (
	// compileSteps is how much work it is to compile each byte of a pattern.
	compileSteps = 256
	// patientBytes is up to how many bytes a text is matched in one go.
	patientBytes = 64 << 10
	// streamSteps is how many times more work a longer one is, as a stream.
	streamSteps = 8
)

// match matches a text. Each byte of it costs a share of the pattern's program.
func (e *evaluation) match(compiled *regexp.Regexp, p *pattern, text []byte) (bool, error) {
	steps := 1 + len(text)*(3+p.steps/3)
	if len(text) > patientBytes {
		steps *= streamSteps
	}
	if err := e.spend(steps); err != nil {
		return false, err
	}
	if len(text) <= patientBytes {
		return compiled.Match(text), nil
	}
	runes := &watchedRunes{text: text, work: e.work}
	matched := compiled.MatchReader(runes)
	return matched, runes.err
}

// watchedRunes reads a long text, and ends where nobody waits any more.
type watchedRunes struct {
	text []byte
	work *Work
	read int
	err  error
}

func (r *watchedRunes) ReadRune() (rune, int, error) {
	if len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	if r.read++; r.read%4096 == 0 {
		if r.err = context.Cause(r.work.ctx); r.err != nil {
			return 0, 0, io.EOF
		}
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}

// compilePattern reads an I-Regexp. Its syntax is a part of Go's, except for
// what the dot matches; what Go has beyond it is refused.
func compilePattern(text string) (*pattern, error) {
	translated, err := translatePattern(text)
	if err != nil {
		return nil, err
	}
	steps, err := regular.Size(translated)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, errors.New(bad.Code.String())
		}
		return nil, err
	}
	anywhere, err := regexp.Compile(translated)
	if err != nil {
		return nil, err
	}
	whole, err := regexp.Compile(`\A(?:` + translated + `)\z`)
	if err != nil {
		return nil, err
	}
	return &pattern{whole: whole, anywhere: anywhere, steps: steps}, nil
}

// translatePattern writes an I-Regexp in Go's syntax.
func translatePattern(text string) (string, error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			escape, size, err := translateEscape(text[i:])
			if err != nil {
				return "", err
			}
			b.WriteString(escape)
			i += size - 1
		case inClass && c == '[':
			return "", errors.New(`write [ inside brackets as \[`)
		case inClass && c == ']':
			inClass = false
			b.WriteByte(c)
		case inClass:
			b.WriteByte(c)
		case c == '[':
			if strings.HasPrefix(text[i+1:], "]") || strings.HasPrefix(text[i+1:], "^]") {
				return "", errors.New("empty brackets")
			}
			inClass = true
			b.WriteByte(c)
		case c == '.':
			b.WriteString(`[^\n\r]`)
		case c == '(' && strings.HasPrefix(text[i+1:], "?"):
			return "", errors.New("(? is not supported")
		case strings.IndexByte("*+?}", c) >= 0 && strings.HasPrefix(text[i+1:], "?"):
			return "", errors.New("a quantifier cannot be followed by ?")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// translateEscape reads a backslash and what follows, and says how long it is.
func translateEscape(text string) (escape string, size int, err error) {
	if len(text) < 2 {
		return "", 0, errors.New(`a \ at the end escapes nothing`)
	}
	switch c := text[1]; {
	case c == 'n' || c == 'r' || c == 't' || strings.IndexByte(`()*+-.?[\]^{|}$`, c) >= 0:
		return text[:2], 2, nil
	case c == 'p' || c == 'P':
		end := strings.IndexByte(text, '}')
		if end < 0 || text[2] != '{' {
			return "", 0, fmt.Errorf(`\%c must be followed by a category in braces`, c)
		}
		return text[:end+1], end + 1, nil
	}
	return "", 0, fmt.Errorf(`the escape \%c is not supported; use a class such as [0-9]`, text[1])
}

package jsonpath

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is an I-Regexp in the two ways it is used.
type pattern struct {
	whole, anywhere *regexp.Regexp
}

// compilePattern reads an I-Regexp. Its syntax is a part of Go's, except for
// what the dot matches; what Go has beyond it is refused.
func compilePattern(text string) (*pattern, error) {
	translated, err := translatePattern(text)
	if err != nil {
		return nil, err
	}
	anywhere, err := regexp.Compile(translated)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return nil, errors.New(bad.Code.String())
		}
		return nil, err
	}
	whole, err := regexp.Compile(`\A(?:` + translated + `)\z`)
	if err != nil {
		return nil, err
	}
	return &pattern{whole: whole, anywhere: anywhere}, nil
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
			return "", errors.New(`[ inside brackets is written \[`)
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
			return "", errors.New("(? has no meaning here")
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
		return "", 0, errors.New(`a \ at the end`)
	}
	switch c := text[1]; {
	case c == 'n' || c == 'r' || c == 't' || strings.IndexByte(`()*+-.?[\]^{|}$`, c) >= 0:
		return text[:2], 2, nil
	case c == 'p' || c == 'P':
		end := strings.IndexByte(text, '}')
		if end < 0 || text[2] != '{' {
			return "", 0, fmt.Errorf(`\%c needs a category in braces`, c)
		}
		return text[:end+1], end + 1, nil
	}
	return "", 0, fmt.Errorf(`there is no escape \%c; write a class such as [0-9]`, text[1])
}

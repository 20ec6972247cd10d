package compute

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// The limits of expressions. A decimal has up to maxDigits digits.
const (
	maxBytes     = feedmill.MaxComputedBytes
	maxDepth     = feedmill.MaxComputedDepth
	maxTextBytes = feedmill.MaxComputedText
	maxDigits    = columnar.WideDigits
)

// Fault is what is wrong with an expression, and where.
type Fault struct {
	// Position counts code points from 1.
	Position int
	Detail   string
}

// Error returns the detail, which contains the position.
func (f *Fault) Error() string { return f.Detail }

// fault makes a fault. The format has @ in the place of the position.
func fault(position int, format string, args ...any) *Fault {
	return &Fault{position, fmt.Sprintf(strings.ReplaceAll(format, "@", fmt.Sprintf("at %d", position)), args...)}
}

// tokenKind is what a token is.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenQuoted // a name in double quotes
	tokenText
	tokenNumber
	tokenSymbol
)

// token is a word of an expression.
type token struct {
	kind tokenKind
	// text is the name, the text without its quotes, the number, or the symbol.
	text     string
	position int
}

// is reports whether the token is a symbol or a keyword.
func (t token) is(text string) bool {
	return (t.kind == tokenSymbol || t.kind == tokenName) && t.text == text
}

// String is the token as messages show it.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenText:
		return "a text"
	case tokenQuoted:
		return `"` + t.text + `"`
	}
	return t.text
}

// symbols are those that scan knows, the longer ones first.
var symbols = []string{"!=", "<>", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "."}

// scan divides an expression into tokens. The last one is the end.
func scan(source string) ([]token, *Fault) {
	if len(source) > maxBytes {
		return nil, &Fault{1, fmt.Sprintf("An expression can have up to %d bytes; it has %d.", maxBytes, len(source))}
	}
	var tokens []token
	position := 1
	for rest := source; ; {
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		position += len(rest) - len(trimmed)
		rest = trimmed
		if rest == "" {
			return append(tokens, token{tokenEnd, "", position}), nil
		}
		t, size, err := next(rest, position)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		position += utf8.RuneCountInString(rest[:size])
		rest = rest[size:]
	}
}

// next reads the first token of a text, and returns how many bytes it has.
func next(text string, position int) (token, int, *Fault) {
	first, width := utf8.DecodeRuneInString(text)
	switch {
	case first == utf8.RuneError && width < 2:
		return token{}, 0, fault(position, "The text @ is not valid UTF-8.")
	case first == '\'' || first == '"':
		return quoted(text, position)
	case first >= '0' && first <= '9' || first == '.' && len(text) > 1 && text[1] >= '0' && text[1] <= '9':
		return number(text, position)
	case first == '_' || unicode.IsLetter(first):
		size := strings.IndexFunc(text, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		})
		if size < 0 {
			size = len(text)
		}
		return token{tokenName, text[:size], position}, size, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(text, s) {
			return token{tokenSymbol, s, position}, len(s), nil
		}
	}
	return token{}, 0, fault(position, "Unexpected character %q @. Write texts in single quotes and names with special characters in double quotes.", string(first))
}

// quoted reads a text or a name up to its closing quote, which appears twice inside.
func quoted(text string, position int) (token, int, *Fault) {
	quote, kind, what := text[:1], tokenText, "text"
	if quote == `"` {
		kind, what = tokenQuoted, "name"
	}
	var b strings.Builder
	for at := 1; ; {
		end := strings.Index(text[at:], quote)
		if end < 0 {
			return token{}, 0, fault(position, "The %s @ has no closing quote.", what)
		}
		b.WriteString(text[at : at+end])
		at += end + 1
		if !strings.HasPrefix(text[at:], quote) {
			switch value := b.String(); {
			case strings.ContainsRune(value, 0):
				return token{}, 0, fault(position, "The %s @ contains the character U+0000. Remove it.", what)
			case !utf8.ValidString(value):
				return token{}, 0, fault(position, "The %s @ is not valid UTF-8.", what)
			case value == "" && kind == tokenQuoted:
				return token{}, 0, fault(position, "The name @ is empty. Write texts in single quotes.")
			default:
				return token{kind, value, position}, at, nil
			}
		}
		b.WriteString(quote)
		at++
	}
}

// number reads a number without a sign and without an exponent.
func number(text string, position int) (token, int, *Fault) {
	digits := func(from int) int {
		for from < len(text) && text[from] >= '0' && text[from] <= '9' {
			from++
		}
		return from
	}
	size := digits(0)
	if size+1 < len(text) && text[size] == '.' && text[size+1] >= '0' && text[size+1] <= '9' {
		size = digits(size + 1)
	}
	if next, _ := utf8.DecodeRuneInString(text[size:]); next == '_' || next == '.' || unicode.IsLetter(next) {
		return token{}, 0, fault(position, "The number @ is not valid. Write it as 12 or 12.5.")
	}
	return token{tokenNumber, text[:size], position}, size, nil
}

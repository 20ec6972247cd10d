package compute

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
)

func lower(text string) string { return strings.Map(unicode.ToLower, text) }
func upper(text string) string { return strings.Map(unicode.ToUpper, text) }
func trim(text string) string  { return strings.Trim(text, " ") }

// evalText makes one text of another.
func evalText(of func(string) string) func(*compiler, *Node) eval {
	return func(c *compiler, n *Node) eval {
		a := c.compile(n.Args[0])
		return func(r *row) value {
			v := a(r)
			if !v.null {
				v.s = of(v.s)
			}
			return v
		}
	}
}

func evalConcat(c *compiler, n *Node) eval {
	parts := make([]eval, len(n.Args))
	for i, arg := range n.Args {
		parts[i] = c.compile(arg)
	}
	return func(r *row) value {
		var b strings.Builder
		for _, part := range parts {
			v := part(r)
			if b.Len()+len(v.s) > maxTextBytes {
				if r.err == nil {
					r.err = fmt.Errorf("%w: a text is larger than %d bytes", ErrOverflow, maxTextBytes)
				}
				return null
			}
			b.WriteString(v.s) // which null does not have
		}
		return value{s: b.String()}
	}
}

func evalIf(c *compiler, n *Node) eval {
	condition, a, b := c.compile(n.Args[0]), c.compile(n.Args[1]), c.compile(n.Args[2])
	return func(r *row) value {
		if condition(r).true() {
			return a(r)
		}
		return b(r)
	}
}

func evalCoalesce(c *compiler, n *Node) eval {
	parts := make([]eval, len(n.Args))
	for i, arg := range n.Args {
		parts[i] = c.compile(arg)
	}
	return func(r *row) value {
		for _, part := range parts {
			if v := part(r); !v.null {
				return v
			}
		}
		return null
	}
}

func evalLength(c *compiler, n *Node) eval {
	a := c.compile(n.Args[0])
	return func(r *row) value {
		v := a(r)
		if v.null {
			return v
		}
		return whole(int64(utf8.RuneCountInString(v.s)))
	}
}

func evalSubstring(c *compiler, n *Node) eval {
	text, start := c.compile(n.Args[0]), c.compile(n.Args[1])
	var length eval
	if len(n.Args) > 2 {
		length = c.compile(n.Args[2])
	}
	return func(r *row) value {
		v, from := text(r), start(r)
		count := value{i: math.MaxInt64}
		if length != nil {
			if count = length(r); !count.null {
				count.i = max(0, count.n.Int64())
			}
		}
		if v.null || from.null || count.null {
			return null
		}
		v.s = cut(v.s, max(1, from.n.Int64()), count.i)
		return v
	}
}

// cut is a part of a text. Positions count from 1.
func cut(text string, start, count int64) string {
	skip := func(text string, n int64) int {
		for at := range text {
			if n == 0 {
				return at
			}
			n--
		}
		return len(text)
	}
	text = text[skip(text, start-1):]
	return text[:skip(text, count)]
}

func evalToText(c *compiler, n *Node) eval {
	a, t := c.compile(n.Args[0]), n.Args[0].Type
	return func(r *row) value {
		v := a(r)
		if v.null {
			return v
		}
		switch t.Kind {
		case columnar.TypeInteger, columnar.TypeDecimal:
			v.s = decimalText(v)
		case columnar.TypeNumber:
			v.s = numberText(v.f)
		case columnar.TypeBoolean:
			v.s = strconv.FormatBool(v.i == 1)
		case columnar.TypeDate:
			v.s = time.Unix(v.i*daySeconds, 0).UTC().Format(time.DateOnly)
		case columnar.TypeTimestamp:
			v.s = time.UnixMicro(v.i).UTC().Format(time.RFC3339Nano)
		}
		return value{s: v.s}
	}
}

// numberText writes a number with the fewest digits, as JSON does.
func numberText(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

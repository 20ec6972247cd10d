package strictjson

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// AppendYAML appends the value as a YAML document in block style. The same value always
// has the same text, and [ReadYAML] reads it back. Strings have escapes for everything that
// is not printable.
func (v *Value) AppendYAML(b []byte) []byte {
	if v.isScalar() {
		return append(v.appendScalar(b, 0), '\n')
	}
	return v.appendBlock(b, 0, false)
}

// isScalar reports whether the value is written on the line of its name.
func (v *Value) isScalar() bool {
	return v.Kind == '{' && len(v.Members) == 0 || v.Kind == '[' && len(v.Items) == 0 || v.Kind != '{' && v.Kind != '['
}

// appendBlock appends the members or items, each on a line of its own. If begun is set, the
// first one continues the current line.
func (v *Value) appendBlock(b []byte, indent int, begun bool) []byte {
	start := func(i int) {
		if i > 0 || !begun {
			b = append(b, strings.Repeat(" ", indent)...)
		}
	}
	for i := range v.Members {
		m := &v.Members[i]
		start(i)
		b = append(appendText(b, m.Name, -1), ':')
		b = m.Value.appendAfter(b, indent, false)
	}
	for i := range v.Items {
		start(i)
		b = append(b, '-')
		b = v.Items[i].appendAfter(b, indent, v.Items[i].Kind == '{')
	}
	return b
}

// appendAfter appends the value after a name or a dash.
func (v *Value) appendAfter(b []byte, indent int, sameLine bool) []byte {
	switch {
	case v.isScalar():
		return append(v.appendScalar(append(b, ' '), indent+2), '\n')
	case sameLine:
		return v.appendBlock(append(b, ' '), indent+2, true)
	}
	return v.appendBlock(append(b, '\n'), indent+2, false)
}

func (v *Value) appendScalar(b []byte, indent int) []byte {
	switch v.Kind {
	case '{':
		return append(b, "{}"...)
	case '[':
		return append(b, "[]"...)
	case '"':
		return appendText(b, v.Text(), indent)
	}
	return append(b, v.Raw...)
}

// appendText appends a string. Lines of a string are written as a literal block with the
// indentation, unless that is negative.
func appendText(b []byte, text string, indent int) []byte {
	switch {
	case isPlain(text):
		return append(b, text...)
	case indent >= 0 && isLiteral(text):
		b = append(b, '|')
		for line := range strings.Lines(text) {
			b = append(b, '\n')
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				b = append(append(b, strings.Repeat(" ", max(indent, 2))...), line...)
			}
		}
		return b
	}
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case unicode.IsPrint(r):
			b = append(b, string(r)...)
		case r > 0xFFFF:
			b = fmt.Appendf(b, `\U%08x`, r)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}

// reserved lists the words that some version of YAML reads as another type.
var reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// isPlain reports whether every YAML parser reads the text without quotes as this string.
func isPlain(text string) bool {
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || r == '_' || r == '/' && i == 0:
		case i == 0:
			return false
		case '0' <= r && r <= '9' || strings.ContainsRune("-./@+=?&%~$()*", r):
		case r == ' ' && i < len(text)-1:
		case r == ':' && i < len(text)-1 && text[i+1] != ' ':
		default:
			return false
		}
	}
	return text != "" && !slices.Contains(reserved, strings.ToLower(text))
}

// isLiteral reports whether a text is lines that a literal block keeps as they are.
func isLiteral(text string) bool {
	if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") || strings.HasPrefix(text, "\n") || len(text) == 1 {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) != line || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return true
}

package json

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape undoes the escapes of the string in data[start:end] and appends it
// to dst, which may be data[:start]: what is written is never longer than what
// was read. It returns nil for a fault.
func (t *lexer) unescape(dst []byte, start, end int) []byte {
	data := t.data
	for i := start; i < end; {
		next := bytes.IndexByte(data[i:end], '\\')
		if next < 0 {
			return append(dst, data[i:end]...)
		}
		dst = append(dst, data[i:i+next]...)
		i += next
		switch c := data[i+1]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, size := t.unicodeEscape(i, end)
			if size < 0 {
				return nil
			}
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		default:
			t.fail(i, "the escape is not valid; use \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u")
			return nil
		}
		i += 2
	}
	return dst
}

// unicodeEscape reads \u and its digits at i, and a second one where they are
// half of a surrogate pair.
func (t *lexer) unicodeEscape(i, end int) (r rune, size int) {
	first, ok := hexDigits(t.data[i+2 : end])
	if !ok {
		return 0, t.fail(i, "\\u must be followed by four hexadecimal digits")
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if rest := t.data[i+6 : end]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if second, ok := hexDigits(rest[2:]); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12
			}
		}
	}
	return 0, t.fail(i, "the escape is half of a surrogate pair, and the other half is missing")
}

func hexDigits(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// checkEscapes reports whether the escapes of a string are right.
func (t *lexer) checkEscapes(start, end int) bool {
	t.scratch = t.unescape(t.scratch[:0], start, end)
	return t.fault == nil
}

// needlessEscapes reports whether a string may have an escape that is longer than it has to be.
func (t *lexer) needlessEscapes(start, end int) bool {
	text := t.data[start:end]
	return bytes.Contains(text, []byte(`\u`)) || bytes.Contains(text, []byte(`\/`))
}

// appendString appends a text as a string of JSON, with as few escapes as there can be.
func appendString(to, text []byte) []byte {
	const digits = "0123456789abcdef"
	to = append(to, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			to = append(to, '\\', c)
		case c >= ' ':
			to = append(to, c)
		default:
			if short := bytes.IndexByte([]byte("\b\f\n\r\t"), c); short >= 0 {
				to = append(to, '\\', "bfnrt"[short])
			} else {
				to = append(to, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			}
		}
	}
	return append(to, '"')
}

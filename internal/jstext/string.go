package jstext

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the ASCII characters that need no escape in a string.
var plain = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// plainLen returns the number of plain characters at the start of text.
func plainLen(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(text)-i >= 8; i += 8 {
		// A term has the high bit of a byte set if the byte is not plain. This is exact up
		// to the first such byte.
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		if special := (w | (w - ones*' ') | (quote - ones) | (slash - ones)) & highs; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(text) && plain[text[i]] {
		i++
	}
	return i
}

// text reads a string.
func (s *scanner) text(dst []byte) ([]byte, *Error) {
	src, i := s.src, s.pos+1
	copied := s.pos // the source is in dst up to here
	for {
		i += plainLen(src[i:])
		s.pos = i
		switch {
		case i == len(src):
			return nil, s.fault("")
		case src[i] == '"':
			s.pos++
			return append(dst, src[copied:s.pos]...), nil
		case src[i] == '\\':
			dst = append(dst, src[copied:i]...)
			r, fault := s.escape()
			if fault != nil {
				return nil, fault
			}
			dst = appendRune(dst, r)
			i = s.pos
			copied = i
		case src[i] < ' ':
			return nil, s.fault("a control character in a string must be escaped")
		default:
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size == 1 {
				return nil, s.fault("the text is not valid UTF-8")
			}
			i += size
		}
	}
}

// escape reads an escape sequence, or the two that make a surrogate pair.
func (s *scanner) escape() (rune, *Error) {
	const unknown = "the escape sequence is not valid"
	at := s.pos
	if s.pos++; s.pos == len(s.src) {
		return 0, s.fault("")
	}
	c := s.src[s.pos]
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, s.fault(unknown)
		}
		s.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := s.unit(at)
	if !ok {
		return 0, s.fault(unknown)
	}
	if utf16.IsSurrogate(r) {
		low, ok := s.unit(s.pos)
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			s.pos = at
			return 0, s.fault("a lone surrogate is not a valid character")
		}
	}
	return r, nil
}

// unit reads an escaped UTF-16 code unit at an offset. If there is none, pos stays at the
// first byte that does not belong to one.
func (s *scanner) unit(at int) (r rune, ok bool) {
	for s.pos = at; s.pos < len(s.src) && s.pos < at+6; s.pos++ {
		c := s.src[s.pos]
		switch lower := c | 0x20; {
		case s.pos == at && c == '\\', s.pos == at+1 && c == 'u':
		case s.pos < at+2:
			return 0, false
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= lower && lower <= 'f':
			r = r<<4 | rune(lower-'a'+10)
		default:
			return 0, false
		}
	}
	return r, s.pos == at+6
}

// AppendString appends s to dst as JSON.stringify writes it: only quotation marks,
// backslashes and control characters are escaped. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	copied := 0 // s is in dst up to here
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || r == utf8.RuneError {
			dst = append(dst, s[copied:i]...)
			dst = appendRune(dst, r)
			copied = i + size
		}
		i += size
	}
	dst = append(dst, s[copied:]...)
	return append(dst, '"')
}

func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', '0'+byte(r>>4), "0123456789abcdef"[r&15])
	}
	return utf8.AppendRune(dst, r)
}

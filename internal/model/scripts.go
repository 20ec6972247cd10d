package model

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// plainly is a text without the spaces around it, in the writing by which numbers and
// dates are read: the digits of other scripts and the wide forms of East Asia become those of
// ASCII, marks that only say in which direction to write go, and the words for year, month and day
// that stand behind their numbers in Chinese, Japanese and Korean become dashes. A text
// that needs none of it is returned as it stands.
func plainly(text []byte) []byte {
	text = trim(text)
	if len(text) > maxDate || !slices.ContainsFunc(text, beyondASCII) || !bytes.ContainsFunc(text, isForeign) {
		return text
	}
	out := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch plain := plainRune(r); plain {
		case dropped:
		case 0:
			out = append(out, rest[:size]...)
		default:
			out = append(out, plain)
		}
		rest = rest[size:]
	}
	return trim(eastern(out))
}

// plainly is plainly, or trim by the original rules, which know no other scripts.
func (n *nullTokens) plainly(text []byte) []byte {
	if n.original {
		return trim(text)
	}
	return plainly(text)
}

// beyondASCII spares most texts the search for foreign characters, which decodes each.
func beyondASCII(c byte) bool { return c >= utf8.RuneSelf }

// isForeign reports whether a character is one that plainly changes.
func isForeign(r rune) bool {
	return r >= 0x600 && (plainRune(r) != 0 || r == '年' || r == '년')
}

// dropped stands for a character that is left out.
const dropped = 1

// zeros are those of the scripts whose digits stand for those of ASCII: Arabic, Persian, Devanagari, Bengali, Gujarati, Thai and
// the wide ones.
var zeros = []rune{0x660, 0x6f0, 0x966, 0x9e6, 0xae6, 0xe50, 0xff10}

// plainRune is the character of ASCII that one stands for, dropped for one without a meaning, else 0.
func plainRune(r rune) byte {
	switch {
	case r < 0x600:
		return 0
	case r == '\u066b':
		return '.'
	case r == '\u066c':
		return ','
	case r == '\u066a':
		return '%'
	case r == '\u061c', 0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == '\ufeff':
		return dropped
	case 0xff01 <= r && r <= 0xff5e:
		return byte(r - 0xff01 + '!')
	case r == '\u3000':
		return ' '
	}
	for _, zero := range zeros {
		if zero <= r && r <= zero+9 {
			return byte(r-zero) + '0'
		}
	}
	return 0
}

// easternDates are the words behind a year, a month and a day.
var easternDates = [][3]string{{"年", "月", "日"}, {"년", "월", "일"}}

// eastern makes 2024年1月5日 2024-1-5, and leaves other texts as they are.
func eastern(text []byte) []byte {
	for _, words := range easternDates {
		year, rest, found := bytes.Cut(text, []byte(words[0]))
		if !found || len(year) != 4 || !allDigits(year, 0, 4) {
			continue
		}
		month, rest, _ := bytes.Cut(rest, []byte(words[1]))
		day, rest, found := bytes.Cut(rest, []byte(words[2]))
		if found {
			return bytes.Join([][]byte{year, []byte("-"), trim(month), []byte("-"), trim(day), rest}, nil)
		}
	}
	return text
}

// beginsForeign reports whether a text begins with a digit of another script, or with
// a character that may stand before one.
func beginsForeign(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return plainRune(r) != 0
}

package sheet

import (
	"strings"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/columnar"
)

// numberKind is what the numbers of a cell are, by its number format.
type numberKind uint8

const (
	kindNumber numberKind = iota
	kindDate
	kindTime
	kindDateTime
	kindDuration
	kindPercent
)

// builtinKind is what the numbers of a format are that every workbook has by its number.
// Those from 27 on are days in the calendars of East Asia.
func builtinKind(id int) numberKind {
	switch {
	case id == 9, id == 10:
		return kindPercent
	case 14 <= id && id <= 17, 27 <= id && id <= 31, id == 36, 50 <= id && id <= 54, id == 57, id == 58:
		return kindDate
	case 18 <= id && id <= 21, 32 <= id && id <= 35, id == 55, id == 56:
		return kindTime
	case id == 22:
		return kindDateTime
	case id == 45, id == 47:
		return kindTime
	case id == 46:
		return kindDuration
	}
	return kindNumber
}

// numberFormat is what a number format says of its numbers: what they are, and of amounts of money
// their currency as it is written.
type numberFormat struct {
	kind numberKind
	unit string
	// unreadable says that the workbook has the format in a form that is not read.
	unreadable bool
}

// unitSeconds is the unit of durations.
const unitSeconds = "s"

// builtinFormat is the format that every workbook has by its number. Those of money are none: what their
// currency is depends on the machine that shows them.
func builtinFormat(id int) numberFormat { return withUnit(builtinKind(id), "") }

func withUnit(kind numberKind, currency string) numberFormat {
	switch kind {
	case kindDuration:
		return numberFormat{kind: kind, unit: unitSeconds}
	case kindNumber:
		return numberFormat{kind: kind, unit: currency}
	}
	return numberFormat{kind: kind}
}

// formatOf is what a format code says. Only the first section counts, which
// is that of positive numbers. What stands in quotes, behind a backslash, an underscore or a star
// is text, and what stands in brackets a colour, a currency, a locale, a condition or an elapsed time.
func formatOf(code string) numberFormat {
	var days, clock, elapsed, percent, digits bool
	month := false // an m that is a month unless a time stands beside it
	var text literals
	for i := 0; i < len(code); i++ {
		lower := func(word string) bool {
			return len(code)-i >= len(word) && strings.EqualFold(code[i:i+len(word)], word)
		}
		c := code[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		switch c {
		case ';':
			i = len(code)
			continue
		case '"':
			inside, _, _ := strings.Cut(code[i+1:], `"`)
			text.add(inside)
			i += len(inside) + 1
			continue
		case '\\', '_', '*':
			_, size := utf8.DecodeRuneInString(code[i+1:])
			if c == '\\' {
				text.add(code[i+1 : i+1+size])
			} else {
				text.end()
			}
			i += size
			continue
		case '[':
			inside, _, _ := strings.Cut(code[i+1:], "]")
			if symbol, ok := strings.CutPrefix(inside, "$"); ok {
				symbol, _, _ = strings.Cut(symbol, "-")
				text.add(symbol)
			} else if letters := strings.ToLower(inside); letters != "" && strings.Trim(letters, letters[:1]) == "" && strings.Contains("hms", letters[:1]) {
				elapsed = true
			}
			i += len(inside) + 1
			continue
		case 'g':
			if lower("general") {
				i += len("general") - 1
			} else {
				days = true // an era
			}
		case 'a':
			if lower("am/pm") {
				clock = true
				i += len("am/pm") - 1
			} else if lower("a/p") {
				clock = true
				i += len("a/p") - 1
			} else if lower("aaa") {
				days = true
				i += 2
			}
		case 'y', 'd', 'e', 'b':
			if c == 'e' && i+1 < len(code) && (code[i+1] == '+' || code[i+1] == '-') {
				digits = true
				break
			}
			days = true
		case 'h', 's':
			clock = true
		case 'm':
			month = true
		case '%':
			percent = true
		case '0', '#', '?':
			digits = true
		default:
			if c == '$' || c == ' ' || c >= utf8.RuneSelf {
				text.add(code[i : i+1])
				continue
			}
		}
		text.end()
	}
	kind := kindNumber
	switch {
	case elapsed:
		kind = kindDuration
	case days && clock:
		kind = kindDateTime
	case clock:
		kind = kindTime
	case days, month && !digits:
		kind = kindDate
	case percent:
		kind = kindPercent
	}
	return withUnit(kind, text.currency())
}

// literals are the texts of a format code that are shown as they are.
type literals struct {
	last string
	unit string
	// several says that there are two currencies, so that none is that of the number.
	several bool
}

func (l *literals) add(text string) { l.last += text }

// end ends a text.
func (l *literals) end() {
	if text := strings.Trim(l.last, " \u00a0\u202f"); columnar.IsCurrency(text, true) {
		l.several = l.several || l.unit != "" && l.unit != text
		l.unit = text
	}
	l.last = ""
}

func (l *literals) currency() string {
	if l.end(); l.several {
		return ""
	}
	return l.unit
}

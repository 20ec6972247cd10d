package sheet

import "strings"

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

// kindOfFormat is what the numbers of a format code are. Only the first section counts, which
// is that of positive numbers. What stands in quotes, behind a backslash, an underscore or a star
// is text, and what stands in brackets a colour, a locale, a condition or an elapsed time.
func kindOfFormat(code string) numberKind {
	var days, clock, elapsed, percent, digits bool
	month := false // an m that is a month unless a time stands beside it
	lower := strings.ToLower(code)
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; c {
		case ';':
			i = len(lower)
		case '"':
			if end := strings.IndexByte(lower[i+1:], '"'); end >= 0 {
				i += end + 1
			} else {
				i = len(lower)
			}
		case '\\', '_', '*':
			i++
		case '[':
			end := strings.IndexByte(lower[i:], ']')
			if end < 0 {
				i = len(lower)
				break
			}
			if inside := lower[i+1 : i+end]; inside != "" && strings.Trim(inside, inside[:1]) == "" && strings.Contains("hms", inside[:1]) {
				elapsed = true
			}
			i += end
		case 'g':
			if strings.HasPrefix(lower[i:], "general") {
				i += len("general") - 1
			} else {
				days = true // an era
			}
		case 'a':
			if strings.HasPrefix(lower[i:], "am/pm") {
				clock = true
				i += len("am/pm") - 1
			} else if strings.HasPrefix(lower[i:], "a/p") {
				clock = true
				i += len("a/p") - 1
			} else if strings.HasPrefix(lower[i:], "aaa") {
				days = true
				i += 2
			}
		case 'y', 'd', 'e', 'b':
			if c == 'e' && i+1 < len(lower) && (lower[i+1] == '+' || lower[i+1] == '-') {
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
		}
	}
	switch {
	case elapsed:
		return kindDuration
	case days && clock:
		return kindDateTime
	case clock:
		return kindTime
	case days, month && !digits:
		return kindDate
	case percent:
		return kindPercent
	}
	return kindNumber
}

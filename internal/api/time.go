package api

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

const notATime = "Must be an RFC 3339 time with an offset, such as 2026-11-15T12:00:00Z."

// timeShape is the form of RFC 3339 up to the seconds; a 0 stands for a digit.
const timeShape = "0000-00-00T00:00:00"

// parseTime reads a time in RFC 3339, in UTC to the millisecond. It is
// stricter than [time.Parse], which takes forms that the RFC does not know, and
// knows the small letters that it does.
func parseTime(text string) (time.Time, bool) {
	const offsetShape = "+00:00"
	if len(text) <= len(timeShape) || !hasShape(text[:len(timeShape)], timeShape) {
		return time.Time{}, false
	}
	rest := text[len(timeShape):]
	if rest[0] == '.' {
		fraction := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789"))
		if fraction == 0 {
			return time.Time{}, false
		}
		rest = rest[1+fraction:]
	}
	if rest != "Z" && rest != "z" && (!hasShape(rest, offsetShape) || rest[1:3] > "23" || rest[4:] > "59") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if err != nil {
		return time.Time{}, false
	}
	t = t.UTC().Truncate(time.Millisecond)
	return t, !t.IsZero() && t.Year() >= 1 && t.Year() <= 9999
}

func hasShape(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(shape) {
		c := text[i]
		switch shape[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		case 'T':
			if c != 'T' && c != 't' {
				return false
			}
		case '+':
			if c != '+' && c != '-' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}

// readTime reads a moment in RFC 3339.
func readTime(f strictjson.Field) (time.Time, bool) {
	text, ok := f.Text()
	if !ok {
		return time.Time{}, false
	}
	t, ok := parseTime(text)
	if !ok {
		f.Fault(notATime)
	}
	return t, ok
}

// timeParameter reads a query parameter that is a time; zero where it is not
// given. A plus sign that the client forgot to encode arrives as a space.
func (c *call) timeParameter(name string) time.Time {
	text, ok := c.query[name]
	if !ok {
		return time.Time{}
	}
	t, ok := parseTime(strings.Replace(text, " ", "+", 1))
	if !ok {
		c.fault(feedmill.Fault{Parameter: name, Detail: notATime})
	}
	return t
}

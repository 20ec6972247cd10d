package spec

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Cursor finds the newest of many values, given as the texts that stand in the
// data. Numbers go before times and times before other texts; numbers are
// compared as such, times by the moment that they mean, and other texts by
// their bytes. The zero value has seen nothing.
type Cursor struct {
	newest []byte
	value  CursorValue
}

// See takes a value into account. An empty one says nothing.
func (c *Cursor) See(raw []byte) {
	if len(raw) == 0 || bytes.Equal(raw, c.newest) {
		return
	}
	if len(c.newest) == len(raw) && c.value.plain() && bytes.Compare(raw, c.newest) < 0 && sameShape(raw, c.newest) {
		return // Most values are of one form, and then the bytes tell.
	}
	value := ParseCursor(string(raw))
	if len(c.newest) == 0 || value.compare(c.value) > 0 {
		c.newest, c.value = append(c.newest[:0], raw...), value
	}
}

// TakeNewest returns the newest value seen, and forgets it.
func (c *Cursor) TakeNewest() string {
	newest := c.Newest()
	*c = Cursor{}
	return newest
}

// Newest is the newest value seen, empty where there was none.
func (c *Cursor) Newest() string { return string(c.newest) }

// sameShape reports whether two texts of the same length have digits in the
// same places and everything else in common. Their bytes are then in the order
// of the numbers or times that they are.
func sameShape(a, b []byte) bool {
	for i := range a {
		if a[i] != b[i] && !(isDigit(a[i]) && isDigit(b[i])) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// The classes of values, in their order.
const (
	cursorNumber = iota
	CursorTime
	cursorText
)

// CursorValue is a value as it is compared.
type CursorValue struct {
	Class  int
	text   string
	number *big.Rat
	Time   time.Time
	Layout string // of a time
}

// plain reports whether the order of values of the same shape is that of their
// bytes, which the signs of numbers and offsets turn around.
func (v *CursorValue) plain() bool {
	return v.Class == cursorText || v.Class == cursorNumber && v.text[0] != '-' || v.Class == CursorTime && v.Layout != NetDate && !strings.Contains(v.Layout, "07:00")
}

// cursorLayouts are the forms of times without an offset. Fractions of a
// second are read after any of them.
var cursorLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700"}

// NetDate is how .NET writes a time in JSON, as Xero and old OData have it: milliseconds since
// 1970, and an offset that does not change the moment.
const NetDate = "/Date(0)/"

// parseNetDate reads such a time, and returns the offset as it is written.
func parseNetDate(text string) (at time.Time, offset string, ok bool) {
	inner, begins := strings.CutPrefix(text, "/Date(")
	inner, ends := strings.CutSuffix(inner, ")/")
	if !begins || !ends {
		return at, "", false
	}
	if i := len(inner) - len("+0000"); i > 0 && (inner[i] == '+' || inner[i] == '-') {
		inner, offset = inner[:i], inner[i:]
	}
	n, err := strconv.ParseInt(inner, 10, 64)
	at = time.UnixMilli(n).UTC()
	return at, offset, err == nil && at.Year() >= 1 && at.Year() <= 9999
}

// ParseCursor reads a cursor as a number, a time or a text.
func ParseCursor(text string) CursorValue {
	v := CursorValue{Class: cursorText, text: text}
	if IsNumber(text) {
		if number, ok := new(big.Rat).SetString(text); ok {
			v.Class, v.number = cursorNumber, number
			return v
		}
	}
	if at, _, ok := parseNetDate(text); ok {
		v.Class, v.Time, v.Layout = CursorTime, at, NetDate
		return v
	}
	if len(text) < len(time.DateOnly) || !isDigit(text[0]) {
		return v
	}
	for _, layout := range cursorLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			v.Class, v.Time, v.Layout = CursorTime, at, layout
			if strings.HasSuffix(text, "Z") {
				v.Layout = strings.Replace(strings.Replace(layout, "Z07:00", "Z", 1), "Z0700", "Z", 1)
			}
			return v
		}
	}
	return v
}

// IsNumber reports whether a text is a number in plain digits.
func IsNumber(text string) bool {
	const longest = 64
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, pointed := strings.Cut(digits, ".")
	return len(text) <= longest && isDigits(whole) && (!pointed || isDigits(fraction))
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (v CursorValue) compare(w CursorValue) int {
	if v.Class != w.Class {
		return cmp.Compare(v.Class, w.Class)
	}
	switch v.Class {
	case cursorNumber:
		return v.number.Cmp(w.number)
	case CursorTime:
		return v.Time.Compare(w.Time)
	}
	return strings.Compare(v.text, w.text)
}

// lookBack is a value some time before another, in the same form. A number is
// taken for a time where it has the digits of seconds, milliseconds,
// microseconds or nanoseconds since 1970 in our day; another number and other
// texts are no times, and stay.
func lookBack(text string, d time.Duration) string {
	if d <= 0 {
		return text
	}
	v := ParseCursor(text)
	switch v.Class {
	case CursorTime:
		return formatLike(text, v, v.Time.Add(-d))
	case cursorNumber:
		whole, fraction, pointed := strings.Cut(text, ".")
		unit, known := epochUnits[len(whole)]
		n, err := strconv.ParseInt(whole, 10, 64)
		if !known || err != nil || n < 0 {
			return text
		}
		back := strconv.FormatInt(n-int64((d+unit-1)/unit), 10)
		if pointed {
			back += "." + fraction
		}
		return back
	}
	return text
}

// formatLike writes a time as v is written, with as many digits of a fraction.
func formatLike(text string, v CursorValue, at time.Time) string {
	layout := v.Layout
	if layout == NetDate {
		_, offset, _ := parseNetDate(text)
		return "/Date(" + strconv.FormatInt(at.UnixMilli(), 10) + offset + ")/"
	}
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		digits := len(text[i+1:]) - len(strings.TrimLeft(text[i+1:], "0123456789"))
		layout = strings.Replace(layout, ":05", ":05"+text[i:i+1]+strings.Repeat("0", digits), 1)
	}
	// An offset that is written in digits stays, also where it is zero.
	if !strings.HasSuffix(text, "Z") {
		layout = strings.Replace(strings.Replace(layout, "Z07:00", "-07:00", 1), "Z0700", "-0700", 1)
	}
	return at.Format(layout)
}

var numericTypes = []columnar.Type{columnar.TypeInteger, columnar.TypeDecimal, columnar.TypeNumber}

// HasNumericCursor reports whether the column of the cursor has numbers, which a text of JSON
// never becomes.
func (s *Spec) HasNumericCursor(f feedmill.Feed) bool {
	name, ok := s.CursorColumn()
	return ok && slices.ContainsFunc(f.Columns, func(c feedmill.Column) bool {
		return c.SourceName == name && slices.Contains(numericTypes, c.Type)
	})
}

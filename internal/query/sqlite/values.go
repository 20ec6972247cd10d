package sqlite

import (
	"fmt"
	"math/big"
	"time"
)

// layouts are how SQLite writes times, with and without a zone.
var layouts = []string{
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999 Z07:00", time.DateOnly,
}

// ParseMicros is the time that a text stands for, as [Micros] returns it. Without a
// zone it is UTC.
func ParseMicros(text string) (int64, bool) {
	if n, ok := PlainMicros(text); ok {
		return n, true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

// PlainMicros is [ParseMicros] of a time as SQLite itself writes it, 2006-01-02
// 15:04:05, which most are.
func PlainMicros(s string) (int64, bool) {
	if len(s) != len(time.DateTime) || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	var parts [6]int
	for i, at := range [6][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		for _, c := range []byte(s[at[0]:at[1]]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			parts[i] = 10*parts[i] + int(c-'0')
		}
	}
	month := time.Month(parts[1])
	t := time.Date(parts[0], month, parts[2], parts[3], parts[4], parts[5], 0, time.UTC)
	if t.Month() != month || t.Day() != parts[2] || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 {
		return 0, false // no calendar has it
	}
	return t.UnixMicro(), true
}

// sumOffset makes sums positive, so that their texts of one length sort as they do.
var sumOffset = new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil)

// sumDigits is how long the text of a sum is.
const sumDigits = 41

// FormatSum writes a sum as [Sum] returns it.
func FormatSum(n *big.Int) string {
	return fmt.Sprintf("%0*s", sumDigits, new(big.Int).Add(n, sumOffset))
}

// ParseSum reads what [FormatSum] wrote.
func ParseSum(text string) (*big.Int, bool) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) != sumDigits {
		return nil, false
	}
	return n.Sub(n, sumOffset), true
}

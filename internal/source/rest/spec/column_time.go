package spec

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// A column of dates or timestamps may say how the API writes them, in the words of
// [TimeFormat]: seconds since 1970, or a pattern such as YYYYMMDD.

// ReadTime reads a time as it is written by the format, in UTC where it names no
// zone.
func (f TimeFormat) ReadTime(text string) (time.Time, bool) {
	switch f.name {
	case "unix", "unixMs":
		return sinceEpoch(text, f.unit)
	case "date":
		at, err := time.Parse(time.DateOnly, text)
		return at, err == nil
	case "rfc3339":
		at, err := time.Parse(time.RFC3339, text)
		return at.UTC(), err == nil
	}
	layout := strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02", "HH", "15", "mm", "04", "SSS", "000", "ss", "05", "Z", "Z07:00").Replace(f.pattern)
	at, err := time.Parse(layout, text)
	return at.UTC(), err == nil
}

// sinceEpoch is the time so many units after 1970, to the microsecond. The number may have a
// fraction or an exponent, as in 1.7672256E9.
func sinceEpoch(text string, unit time.Duration) (time.Time, bool) {
	const longest, largest = 40, 20 // bytes, and the exponent
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n < -largest || n > largest {
			return time.Time{}, false
		}
	}
	if len(text) > longest || strings.ContainsAny(text, "/_xXpP") {
		return time.Time{}, false
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return time.Time{}, false
	}
	n.Mul(n, new(big.Rat).SetInt64(unit.Microseconds()))
	micros := new(big.Int).Div(n.Num(), n.Denom())
	if !micros.IsInt64() {
		return time.Time{}, false
	}
	return time.UnixMicro(micros.Int64()).UTC(), true
}

// readFormat reads how a column's times are written.
func (c *PickedColumn) readFormat(in *object) {
	text, ok := in.text("format")
	if !ok {
		return
	}
	if c.As != "date" && c.As != "timestamp" {
		in.Fault("format", "format applies only to columns of type date or timestamp.")
		return
	}
	format, err := parseTimeFormat(text)
	if err != nil {
		in.unreadable("format", "format is not valid: "+err.Error()+".")
		return
	}
	c.Written = &format
}

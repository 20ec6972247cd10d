package rest

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// A column of dates or timestamps may say how the API writes them, in the words of
// [timeFormat]: seconds since 1970, or a pattern such as YYYYMMDD.

// readTime reads a time as it is written by the format, in UTC where it names no
// zone.
func (f timeFormat) readTime(text string) (time.Time, bool) {
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

// isNull reports whether a value of a column that is not text means that there is none.
func (c *picked) isNull(v *strictjson.Value) bool {
	return v.Kind == '"' && c.as != "" && c.as != "text" && c.as != "json" && slices.Contains(c.nulls, v.Text())
}

// value is a value of the column as one of its type.
func (c *picked) value(raw []byte) ([]byte, error) {
	v := valueOf(raw)
	if c.isNull(v) {
		return []byte("null"), nil
	}
	if c.written == nil || v.Kind == 'n' {
		return typed(raw, c.as)
	}
	text, ok := scalar(v)
	if ok {
		if at, ok := c.written.readTime(text); ok && at.Year() >= 0 && at.Year() <= 9999 {
			if c.as == "date" {
				return quote(at.Format(time.DateOnly)), nil
			}
			return quote(at.Format("2006-01-02T15:04:05.999999Z07:00")), nil
		}
	}
	return nil, fmt.Errorf("has the value %q, which is not a %s in the format of the column", shorten(text), c.as)
}

// readFormat reads how a column's times are written.
func (c *picked) readFormat(in *object) {
	text, ok := in.text("format")
	if !ok {
		return
	}
	if c.as != "date" && c.as != "timestamp" {
		in.Fault("format", "format applies only to columns of type date or timestamp.")
		return
	}
	format, err := parseTimeFormat(text)
	if err != nil {
		in.unreadable("format", "format is not valid: "+err.Error()+".")
		return
	}
	c.written = &format
}

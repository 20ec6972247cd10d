package query

import (
	"errors"
	"math/big"
	"regexp"
	"sync"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// parseValue reads a text as a value of the column's type.
func (f *filter) parseValue(text string) (Value, error) {
	switch f.column.Type {
	case columnar.TypeInteger, columnar.TypeDecimal:
		return parseNumber(text)
	case columnar.TypeNumber:
		n, err := parseNumber(text)
		if err != nil {
			return nil, err
		}
		float, _ := n.Float64()
		return float, nil
	case columnar.TypeBoolean:
		if text != "true" && text != "false" {
			return nil, errors.New("must be true or false")
		}
		return text == "true", nil
	case columnar.TypeDate:
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil, errors.New("must be a date such as 2026-01-31")
		}
		return day, nil
	case columnar.TypeTimestamp:
		return parseTimestamp(text, f.zone)
	}
	return text, nil
}

// number is how a number is written: as JSON has it. Exponents of more than
// three digits are numbers that no column holds, and would take long to work out. It is
// compiled when it is first needed, which most processes never do: it is large.
var number = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,3})?$`)
})

func parseNumber(text string) (*big.Rat, error) {
	if number().MatchString(text) {
		if n, ok := new(big.Rat).SetString(text); ok {
			return n, nil
		}
	}
	return nil, errors.New("must be a number")
}

// timestamps are the ways to write a time, with or without the zone.
var timestamps = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", time.DateOnly}

func parseTimestamp(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range timestamps {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("must be a time such as 2026-01-31T08:30:00Z or a date such as 2026-01-31")
}

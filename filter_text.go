package feedmill

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseFilter reads a filter of the form field:op:value,value. The field, after
// a "!" where the filter is inverted, and the values may be in quotes, as in
// CSV. As there, nothing at all is null, and "" is the empty text.
func ParseFilter(text string) (Condition, error) {
	f := Filter{}
	text, f.Inverted = strings.CutPrefix(text, "!")
	field, rest, err := ScanItem(text, ":")
	if err != nil {
		return Condition{}, err
	}
	if field.Text == "" || !strings.HasPrefix(rest, ":") {
		return Condition{}, errors.New("write a filter as field:op:value,value, such as total:gt:100")
	}
	op, values, hasValues := strings.Cut(rest[1:], ":")
	f.Op = FilterOp(op)
	if hasValues {
		items, err := ParseList(values, "")
		if err != nil {
			return Condition{}, err
		}
		for _, item := range items {
			f.Values = append(f.Values, FilterValue{Text: item.Text, Null: item.Text == "" && !item.Quoted})
		}
	}
	return Condition{Name: field.Text, Filters: []Filter{f}}, nil
}

// ParsePeriod reads a period such as "7 days" or "month".
func ParsePeriod(text string) (Period, error) {
	p := Period{N: 1}
	words := strings.Fields(text)
	wrong := errors.New(`write the time as "7 days" or "month"`)
	if len(words) == 2 {
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 {
			return p, wrong
		}
		p.N, words = n, words[1:]
	}
	for _, unit := range PeriodUnits {
		if len(words) == 1 && strings.TrimSuffix(words[0], "s") == string(unit) {
			p.Unit = unit
			return p, nil
		}
	}
	return p, wrong
}

// ListItem is one of several texts that are separated by commas.
type ListItem struct {
	Text string
	// Quoted says that the text was in quotes, and Signed that a sign was before it.
	Quoted, Signed bool
}

// ParseList reads texts that are separated by commas, each of which may be in
// quotes and, where there is a sign, begin with it.
func ParseList(text, sign string) ([]ListItem, error) {
	var items []ListItem
	for {
		rest, signed := text, false
		if sign != "" {
			rest, signed = strings.CutPrefix(text, sign)
		}
		item, rest, err := ScanItem(rest, ",")
		if err != nil {
			return nil, err
		}
		item.Signed = signed
		items = append(items, item)
		if rest == "" {
			return items, nil
		}
		text = rest[1:]
	}
}

// ScanItem reads a text up to one of some separators, or to its closing quote,
// inside of which a quote stands twice.
func ScanItem(text, separators string) (item ListItem, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		at := strings.IndexAny(text, separators)
		if at < 0 {
			at = len(text)
		}
		return ListItem{Text: text[:at]}, text[at:], nil
	}
	var b strings.Builder
	for rest = text[1:]; ; {
		part, after, closed := strings.Cut(rest, `"`)
		b.WriteString(part)
		if !closed {
			return item, "", errors.New("a quote is not closed")
		}
		if rest = after; !strings.HasPrefix(rest, `"`) {
			break
		}
		b.WriteByte('"')
		rest = rest[1:]
	}
	if rest != "" && !strings.Contains(separators, rest[:1]) {
		return item, "", fmt.Errorf("after a closing quote there must be %q or nothing", separators)
	}
	return ListItem{Text: b.String(), Quoted: true}, rest, nil
}

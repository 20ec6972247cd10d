package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// rowParameters are the query parameters that say which rows are wanted.
var rowParameters = []string{"fields", "filter", "sort", "limit", "cursor", "offset", "count", "version", "format", "csv"}

// readQueryParameters reads the query of a GET: fields, filters, sorting and limit.
func (c *call) readQueryParameters() feedmill.Query {
	q := feedmill.Query{WeekStart: time.Monday, Now: now()}
	for _, item := range c.listParameter("fields", "") {
		q.Fields = append(q.Fields, feedmill.Field{Name: item.text, Place: feedmill.Fault{Parameter: "fields"}})
	}
	for _, item := range c.listParameter("sort", "-") {
		q.Sort = append(q.Sort, feedmill.Sort{Name: item.text, Descending: item.signed, Place: feedmill.Fault{Parameter: "sort"}})
	}
	for _, text := range c.repeated["filter"] {
		condition, err := parseFilter(text)
		if err != nil {
			c.fault(feedmill.Fault{Parameter: "filter", Detail: sentence(err.Error())})
			continue
		}
		q.Where = append(q.Where, condition)
	}
	if text, given := c.query["limit"]; given {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > feedmill.MaxQueryRows {
			c.fault(feedmill.Fault{Parameter: "limit", Detail: fmt.Sprintf("This must be a whole number from 1 to %d.", int64(feedmill.MaxQueryRows))})
		}
		q.Limit = n
	}
	if text, given := c.query["offset"]; given {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > feedmill.MaxQueryRows {
			c.fault(feedmill.Fault{Parameter: "offset", Detail: fmt.Sprintf("This must be a whole number from 0 to %d.", int64(feedmill.MaxQueryRows))})
		}
		if _, both := c.query["cursor"]; both {
			c.fault(feedmill.Fault{Parameter: "offset", Detail: "A cursor says already where to begin; give one of the two."})
		}
		q.Offset = n
	}
	return q
}

// listParameter reads the names of columns out of a parameter.
func (c *call) listParameter(name, sign string) []listItem {
	text, given := c.query[name]
	if !given {
		return nil
	}
	items, err := parseList(text, sign)
	switch {
	case err == nil && len(items) > feedmill.MaxQueryFields:
		err = fmt.Errorf("at most %d columns can be named", feedmill.MaxQueryFields)
	case err == nil:
		for _, item := range items {
			if item.text == "" {
				err = errors.New("name columns, separated by commas; put a name with a comma or a colon in quotes")
			}
		}
	}
	if err != nil {
		c.fault(feedmill.Fault{Parameter: name, Detail: sentence(err.Error())})
		return nil
	}
	return items
}

// parseFilter reads a filter of the form field:op:value,value. The field, after
// a "!" where the filter is inverted, and the values may be in quotes, as in
// CSV. As there, nothing at all is null, and "" is the empty text.
func parseFilter(text string) (feedmill.Condition, error) {
	f := feedmill.Filter{}
	text, f.Inverted = strings.CutPrefix(text, "!")
	field, rest, err := scanItem(text, ":")
	if err != nil {
		return feedmill.Condition{}, err
	}
	if field.text == "" || !strings.HasPrefix(rest, ":") {
		return feedmill.Condition{}, errors.New("write a filter as field:op:value,value, such as total:gt:100")
	}
	op, values, hasValues := strings.Cut(rest[1:], ":")
	f.Op = feedmill.FilterOp(op)
	if hasValues {
		items, err := parseList(values, "")
		if err != nil {
			return feedmill.Condition{}, err
		}
		for _, item := range items {
			f.Values = append(f.Values, feedmill.FilterValue{Text: item.text, Null: item.text == "" && !item.quoted})
		}
	}
	return feedmill.Condition{Name: field.text, Filters: []feedmill.Filter{f}, Place: feedmill.Fault{Parameter: "filter"}}, nil
}

// listItem is one of several texts that are separated by commas.
type listItem struct {
	text           string
	quoted, signed bool
}

// parseList reads texts that are separated by commas, each of which may be in
// quotes and, where there is a sign, begin with it.
func parseList(text, sign string) ([]listItem, error) {
	var items []listItem
	for {
		rest, signed := text, false
		if sign != "" {
			rest, signed = strings.CutPrefix(text, sign)
		}
		item, rest, err := scanItem(rest, ",")
		if err != nil {
			return nil, err
		}
		item.signed = signed
		items = append(items, item)
		if rest == "" {
			return items, nil
		}
		text = rest[1:]
	}
}

// scanItem reads a text up to a separator, or to its closing quote, inside of
// which a quote stands twice.
func scanItem(text, separator string) (item listItem, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		at := strings.Index(text, separator)
		if at < 0 {
			at = len(text)
		}
		return listItem{text: text[:at]}, text[at:], nil
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
	if rest != "" && !strings.HasPrefix(rest, separator) {
		return item, "", fmt.Errorf("after a closing quote there must be %q or nothing", separator)
	}
	return listItem{text: b.String(), quoted: true}, rest, nil
}

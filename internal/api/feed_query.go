package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// rowParameters are the query parameters that say which rows are wanted.
var rowParameters = []string{"fields", "filter", "sort", "limit", "cursor", "offset", "count", "version", "format", "csv", "numbers"}

// readQueryParameters reads the query of a GET: fields, filters, sorting and limit.
func (c *call) readQueryParameters() feedmill.Query {
	q := feedmill.Query{WeekStart: time.Monday, Now: now()}
	for _, item := range c.listParameter("fields", "") {
		q.Fields = append(q.Fields, feedmill.Field{Name: item.Text, Place: feedmill.Fault{Parameter: "fields"}})
	}
	for _, item := range c.listParameter("sort", "-") {
		q.Sort = append(q.Sort, feedmill.Sort{Name: item.Text, Descending: item.Signed, Place: feedmill.Fault{Parameter: "sort"}})
	}
	for _, text := range c.repeated["filter"] {
		condition, err := feedmill.ParseFilter(text)
		if err != nil {
			c.fault(feedmill.Fault{Parameter: "filter", Detail: sentence(err.Error())})
			continue
		}
		condition.Place = feedmill.Fault{Parameter: "filter"}
		q.Where = append(q.Where, condition)
	}
	if text, given := c.query["limit"]; given {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > feedmill.MaxQueryRows {
			c.fault(feedmill.Fault{Parameter: "limit", Detail: fmt.Sprintf("limit must be an integer between 1 and %d; got %.20q.", int64(feedmill.MaxQueryRows), text)})
		}
		q.Limit = n
	}
	if text, given := c.query["offset"]; given {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > feedmill.MaxQueryRows {
			c.fault(feedmill.Fault{Parameter: "offset", Detail: fmt.Sprintf("offset must be an integer between 0 and %d; got %.20q.", int64(feedmill.MaxQueryRows), text)})
		}
		if _, both := c.query["cursor"]; both {
			c.fault(feedmill.Fault{Parameter: "offset", Detail: "offset cannot be combined with cursor. Send only one of them."})
		}
		q.Offset = n
	}
	return q
}

// listParameter reads the names of columns out of a parameter.
func (c *call) listParameter(name, sign string) []feedmill.ListItem {
	text, given := c.query[name]
	if !given {
		return nil
	}
	items, err := feedmill.ParseList(text, sign)
	switch {
	case err == nil && len(items) > feedmill.MaxQueryFields:
		err = fmt.Errorf("%s must list at most %d columns", name, feedmill.MaxQueryFields)
	case err == nil:
		for _, item := range items {
			if item.Text == "" {
				err = fmt.Errorf("%s must list columns, separated by commas; put a name that contains a comma or a colon in quotes", name)
			}
		}
	}
	if err != nil {
		c.fault(feedmill.Fault{Parameter: name, Detail: sentence(err.Error())})
		return nil
	}
	return items
}

package api

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// rowParameters are the query parameters that say which rows are wanted.
var rowParameters = []string{"fields", "filter", "sort", "limit", "cursor", "offset", "count", "version", "format", "csv"}

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
func (c *call) listParameter(name, sign string) []feedmill.ListItem {
	text, given := c.query[name]
	if !given {
		return nil
	}
	items, err := feedmill.ParseList(text, sign)
	switch {
	case err == nil && len(items) > feedmill.MaxQueryFields:
		err = fmt.Errorf("at most %d columns can be named", feedmill.MaxQueryFields)
	case err == nil:
		for _, item := range items {
			if item.Text == "" {
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

package api

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

const (
	defaultLimit = 50
	maxLimit     = 500
)

// parseQuery reads a query into its names and values in the order they stand.
func parseQuery(raw string) (pairs [][2]string, err error) {
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if name, err = url.QueryUnescape(name); err != nil {
			return nil, err
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, err
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs, nil
}

// pageLimit reads how many elements a page of a list has.
func (c *call) pageLimit() int {
	text, given := c.query["limit"]
	if !given {
		return defaultLimit
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		c.fault(feedmill.Fault{Parameter: "limit", Detail: fmt.Sprintf("limit must be an integer between 1 and %d; got %.20q.", maxLimit, text)})
	}
	return n
}

// page reads the limit and the cursor of a list whose ids have the prefix.
func (c *call) page(prefix string) (feedmill.Page, error) {
	p := feedmill.Page{Limit: c.pageLimit()}
	if text, ok := c.query["cursor"]; ok {
		id, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || !feedmill.IsID(prefix, string(id)) {
			c.fault(feedmill.Fault{Parameter: "cursor", Detail: noCursorOfList})
		}
		p.Before = feedmill.ID(id)
	}
	return p, c.refusal()
}

const noCursorOfList = "cursor is not valid. Use the cursor from the previous page's Link header."

// listAnswer renders the page of a list that is asked for, up to [maxPageBytes], and, where
// there is more, the link to the next. fetch is asked for the records in steps, and for
// none where anything of the query is wrong.
func listAnswer[T, V any](c *call, prefix string, fetch func(feedmill.Page) ([]T, error), id func(T) feedmill.ID, view func(T) V) (answer, error) {
	p, err := c.page(prefix)
	if err != nil {
		return answer{}, err
	}
	var list jsonList
	step := p
	for {
		step.Limit = min(p.Limit-list.n+1, listStep)
		records, err := fetch(step)
		if err != nil {
			return answer{}, err
		}
		for _, r := range records {
			if list.n == p.Limit || !list.add(view(r)) {
				a := list.answer()
				c.linkNext(&a, step.Before)
				return a, nil
			}
			step.Before = id(r)
		}
		if len(records) < step.Limit {
			return list.answer(), nil
		}
	}
}

// linkNext links to the page behind the last record of this one.
func (c *call) linkNext(a *answer, last feedmill.ID) { c.linkAfter(a, string(last)) }

// linkAfter links to the page behind what has a name that the list goes by.
func (c *call) linkAfter(a *answer, last string) {
	q := c.r.URL.Query()
	q.Set("cursor", base64.RawURLEncoding.EncodeToString([]byte(last)))
	a.set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", c.r.URL.EscapedPath(), q.Encode()))
}

// boolParameter reads a query parameter that is true or false, which is what it
// is by default.
func (c *call) boolParameter(name string) bool {
	text, given := c.query[name]
	if given && text != "true" && text != "false" {
		c.fault(feedmill.Fault{Parameter: name, Detail: name + " must be true or false."})
	}
	return text == "true"
}

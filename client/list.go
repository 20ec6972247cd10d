package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

// one is the envelope of a single resource.
type one[T any] struct {
	Data T
}

// UnmarshalJSON refuses an answer without data, which would be a record of nothing
// but zeros.
func (o *one[T]) UnmarshalJSON(text []byte) error {
	var answer struct{ Data *T }
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if answer.Data == nil {
		return errors.New("the response has no data")
	}
	o.Data = *answer.Data
	return nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; *rel="next"`)

// list goes through a list page by page, from its beginning each time that it
// is ranged over. Of the query what is empty is left out.
func list[T any](ctx context.Context, c *Client, path string, query map[string]string) iter.Seq2[T, error] {
	values := make(url.Values)
	for name, value := range query {
		if value != "" {
			values.Set(name, value)
		}
	}
	if c.PageSize > 0 {
		values.Set("limit", strconv.Itoa(c.PageSize))
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return func(yield func(T, error) bool) {
		for next := path; next != ""; {
			var page []T
			header, err := c.call(ctx, http.MethodGet, next, nil, &page)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			next = ""
			if m := nextLink.FindStringSubmatch(header.Get("Link")); m != nil {
				next = m[1]
			}
		}
	}
}

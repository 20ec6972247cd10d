package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// RowQuery says which rows of a feed are wanted, and in which form. Its zero
// value is all of them as JSON.
type RowQuery struct {
	// Format is json, ndjson, csv, xlsx, parquet or arrow; empty means json.
	Format string
	// Excel asks for CSV that a spreadsheet opens without harm: texts that it
	// would take for formulas have an apostrophe before them.
	Excel bool
	// Fields, Filters and Sort are as the API's parameters have them: columns
	// separated by commas, conditions such as "total:gt:100", and columns with
	// a "-" before those that descend.
	Fields  string
	Filters []string
	Sort    string
	// Limit is how many rows are wanted; 0 leaves it to the server, which
	// gives 1,000 of JSON and all of a file.
	Limit int64
	// Cursor is the Next of the page before.
	Cursor string
	// Offset is how many rows are passed over first, in place of a cursor.
	Offset int64
	// Count asks for how many rows the filters leave, as [Rows].Total.
	Count bool
	// Version is 0 for the current one.
	Version int64
}

// Rows are the rows of a feed in the form that was asked for. They are read as
// they come, and closed. Rows that break off end with an error.
type Rows struct {
	io.ReadCloser
	// ContentType is the media type of the rows.
	ContentType string
	// ETag is the same for the same rows.
	ETag string
	// Next is the cursor of the next page, and empty on the last.
	Next string
	// Total is how many rows the filters leave, where that was asked for.
	Total int64
}

// ReadData reads the rows of a feed.
func (c *Client) ReadData(ctx context.Context, feed string, q RowQuery) (*Rows, error) {
	return c.rows(ctx, request{method: http.MethodGet, path: feedPath(feed) + "/data?" + q.parameters().Encode()})
}

// parameters are all that the query says, for a URL.
func (q RowQuery) parameters() url.Values {
	values := q.values()
	for name, value := range map[string]string{"fields": q.Fields, "sort": q.Sort} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for _, f := range q.Filters {
		values.Add("filter", f)
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Offset > 0 {
		values.Set("offset", strconv.FormatInt(q.Offset, 10))
	}
	if q.Count {
		values.Set("count", "true")
	}
	return values
}

func (q RowQuery) values() url.Values {
	values := make(url.Values)
	if q.Format != "" {
		values.Set("format", q.Format)
	}
	if q.Excel {
		values.Set("csv", "excel")
	}
	if q.Cursor != "" {
		values.Set("cursor", q.Cursor)
	}
	if q.Version > 0 {
		values.Set("version", strconv.FormatInt(q.Version, 10))
	}
	return values
}

// DataQuery is a query with aggregates and with filters that are combined.
type DataQuery struct {
	Fields []QueryField `json:"fields,omitzero"`
	// Where is a condition tree in JSON, as the API describes it.
	Where json.RawMessage `json:"where,omitzero"`
	Sort  []QuerySort     `json:"sort,omitzero"`
	Limit int64           `json:"limit,omitzero"`
	// Offset is the number of rows to skip. It requires Sort.
	Offset    int64  `json:"offset,omitzero"`
	Timezone  string `json:"timezone,omitzero"`
	WeekStart string `json:"weekStart,omitzero"`
}

// QueryField is a column of the answer, and which of its values are wanted.
type QueryField struct {
	Field string `json:"field"`
	As    string `json:"as,omitzero"`
	// Aggregate is sum, avg, min, max, count or countDistinct.
	Aggregate string `json:"aggregate,omitzero"`
	// Aggregates are several of them, in place of As and Aggregate.
	Aggregates []QueryAggregate `json:"-"`
	// Select is false for a field that only filters; nil means true.
	Select  *bool         `json:"select,omitzero"`
	Filters []QueryFilter `json:"filters,omitzero"`
	// Group is hour, day, week, month, quarter or year.
	Group string `json:"group,omitzero"`
	// FilterOption is "all" or "any".
	FilterOption string `json:"filterOption,omitzero"`
	// Having are filters on aggregates of the field.
	Having []QueryHaving `json:"having,omitzero"`
}

// QueryHaving is a filter on an aggregate. Fn can be empty for the only aggregate of the field.
type QueryHaving struct {
	Fn string `json:"fn,omitzero"`
	QueryFilter
}

// QueryAggregate is one of several aggregates of a field.
type QueryAggregate struct {
	Fn string `json:"fn"`
	// As is what it is called in the answer. Where there are several each needs one.
	As string `json:"as,omitzero"`
}

// MarshalJSON writes the field as the API takes it, where one aggregate and
// several have the same name.
func (f QueryField) MarshalJSON() ([]byte, error) {
	type field QueryField
	if len(f.Aggregates) == 0 {
		return json.Marshal(field(f))
	}
	return json.Marshal(struct {
		field
		Aggregate []QueryAggregate `json:"aggregate"`
	}{field(f), f.Aggregates})
}

// QueryFilter is a test of a value, as the API describes it.
type QueryFilter struct {
	Op            string `json:"op"`
	Values        []any  `json:"values,omitzero"`
	Inverted      bool   `json:"inverted,omitzero"`
	CaseSensitive bool   `json:"caseSensitive,omitzero"`
}

// QuerySort is a column to sort by.
type QuerySort struct {
	Field string `json:"field"`
	// Order is "asc" or "desc".
	Order string `json:"order,omitzero"`
}

// QueryData reads the rows that a query asks for. Of the [RowQuery] only Format,
// Cursor and Version count.
func (c *Client) QueryData(ctx context.Context, feed string, query DataQuery, q RowQuery) (*Rows, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return c.rows(ctx, request{
		method: http.MethodPost, path: feedPath(feed) + "/query?" + q.values().Encode(), body: text, contentType: "application/json",
	})
}

// Rejects reads the rows that a refresh did not store, an object a line.
func (c *Client) Rejects(ctx context.Context, feed, refresh string) (*Rows, error) {
	return c.rows(ctx, request{method: http.MethodGet, path: refreshPath(feed, refresh) + "/rejects", header: map[string]string{"Accept": "application/x-ndjson"}})
}

// rows makes a request whose answer may take as long as it takes.
func (c *Client) rows(ctx context.Context, r request) (rows *Rows, err error) {
	err = c.repeat(ctx, r, func() error {
		resp, err := c.unhurried().try(ctx, r)
		if err != nil {
			return err
		}
		rows = &Rows{ReadCloser: resp.Body, ContentType: resp.Header.Get("Content-Type"), ETag: resp.Header.Get("ETag")}
		rows.Total, _ = strconv.ParseInt(resp.Header.Get("X-Total-Count"), 10, 64)
		if m := nextLink.FindStringSubmatch(resp.Header.Get("Link")); m != nil {
			if next, err := url.Parse(m[1]); err == nil {
				rows.Next = next.Query().Get("cursor")
			}
		}
		return nil
	})
	return rows, err
}

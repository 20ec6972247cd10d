package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Service is something that queries run on.
type Service struct {
	ServiceName string                 `json:"serviceName"`
	Title       string                 `json:"title"`
	Connector   string                 `json:"connector"`
	Status      feedmill.ServiceStatus `json:"status"`
}

// View is something of a service that can be read, such as a table.
type View struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Kind        string `json:"kind"`
	// RowEstimate is about how many rows there are, nil where nobody knows.
	RowEstimate *int64 `json:"rowEstimate"`
	// MatchedFields are the fields whose names have the text of the search.
	MatchedFields []string `json:"matchedFields,omitzero"`
}

// ViewQuery picks views. The zero value is all of them.
type ViewQuery struct {
	// Text is one that the name, the label, the description or the name of a field has in it.
	Text string
	// Refresh has them looked for anew.
	Refresh bool
}

// ViewField is a column of a view.
type ViewField struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	Type       string   `json:"type"`
	NativeType string   `json:"nativeType"`
	Nullable   bool     `json:"nullable"`
	Filterable bool     `json:"filterable"`
	Operators  []string `json:"operators"`
	// Pushdown are those of the operators that run in the source.
	Pushdown []string `json:"pushdown"`
	// Aggregates are those that the field can have.
	Aggregates []string `json:"aggregates"`
	// PrimaryKey says that the field is part of the primary key, and References is the field that a
	// foreign key leads to.
	PrimaryKey bool            `json:"primaryKey"`
	References *FieldReference `json:"references"`
	// Samples are a few values.
	Samples []json.RawMessage `json:"samples"`
}

// FieldReference is the field that a foreign key leads to.
type FieldReference struct {
	View  string `json:"view"`
	Field string `json:"field"`
}

// QueryPreview is what a query brings.
type QueryPreview struct {
	Columns    []feedmill.Column  `json:"columns"`
	Rows       []json.RawMessage  `json:"rows"`
	Warnings   []feedmill.Warning `json:"warnings"`
	SQL        string             `json:"sql"`
	Parameters []string           `json:"parameters"`
	Bounds     []QueryBounds      `json:"bounds"`
	// Filters are those of the query, in its order.
	Filters []RanFilter `json:"filters"`
	// GroupedHere says that the aggregates were made by Feedmill, of the rows that the
	// source gave.
	GroupedHere bool `json:"groupedHere"`
	// Computed are the computed fields that the query needs.
	Computed   []RanComputed   `json:"computed"`
	Requests   []TracedRequest `json:"requests"`
	DurationMS Milliseconds    `json:"durationMs"`
}

// RanFilter is a filter of a query and where it ran.
type RanFilter struct {
	Field string `json:"field"`
	// Fn is the aggregate that a filter of having tests.
	Fn       string         `json:"fn,omitempty"`
	Op       string         `json:"op"`
	Inverted bool           `json:"inverted"`
	RanIn    feedmill.RanIn `json:"ranIn"`
}

// RanComputed is where a computed field of a query was computed.
type RanComputed struct {
	Name  string         `json:"name"`
	RanIn feedmill.RanIn `json:"ranIn"`
	// Reason says why Feedmill computed it; empty where the source did.
	Reason string `json:"reason,omitempty"`
}

// QueryBounds is the time that a filter came to, without To itself.
type QueryBounds struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Services lists what queries run on.
func (c *Client) Services(ctx context.Context) ([]Service, error) {
	var out []Service
	_, err := c.call(ctx, http.MethodGet, "/query_builder/services", nil, &out)
	return out, err
}

// CreationLink is a link with which a person connects a service and makes a feed of it,
// once and until it expires.
type CreationLink struct {
	ServiceName string    `json:"serviceName"`
	URL         string    `json:"url"`
	ExpiresAt   time.Time `json:"expiresAt"`
}

// CreationURL makes the link with which a person connects a service. They are sent to
// redirect afterwards, where one is given.
func (c *Client) CreationURL(ctx context.Context, service, redirect string) (CreationLink, error) {
	query := url.Values{"serviceName": {service}}
	if redirect != "" {
		query.Set("redirectUri", redirect)
	}
	var out one[CreationLink]
	_, err := c.call(ctx, http.MethodGet, "/data_feeds/creation_url?"+query.Encode(), nil, &out)
	return out.Data, err
}

func viewsPath(service string) string {
	return "/query_builder/services/" + url.PathEscape(service) + "/views"
}

// Views goes through the views of a service, in the order of their names.
func (c *Client) Views(ctx context.Context, service string, q ViewQuery) iter.Seq2[View, error] {
	query := map[string]string{"q": q.Text}
	if q.Refresh {
		query["refresh"] = "true"
	}
	return list[View](ctx, c.unhurried(), viewsPath(service), query)
}

// Fields lists the columns of a view.
func (c *Client) Fields(ctx context.Context, service, view string) ([]ViewField, error) {
	var out []ViewField
	_, err := c.unhurried().call(ctx, http.MethodGet, viewsPath(service)+"/"+url.PathEscape(view)+"/fields", nil, &out)
	return out, err
}

// FieldValues lists distinct values of a field, sorted, with null last. With a text, only values that
// have it in them, whatever its case. A limit of 0 is that of the server.
func (c *Client) FieldValues(ctx context.Context, service, view, field, text string, limit int) (values []json.RawMessage, err error) {
	query := url.Values{}
	if text != "" {
		query.Set("q", text)
	}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	path := viewsPath(service) + "/" + url.PathEscape(view) + "/fields/" + url.PathEscape(field) + "/values?" + query.Encode()
	_, err = c.unhurried().call(ctx, http.MethodGet, strings.TrimSuffix(path, "?"), nil, &values)
	return values, err
}

// PreviewQuery returns the first rows of a query, as the API's document describes
// it: an object in JSON or in YAML. Nothing is kept. It may take as long as it
// takes; the context ends it.
func (c *Client) PreviewQuery(ctx context.Context, spec []byte, opts ...CallOption) (QueryPreview, error) {
	var out one[QueryPreview]
	r := request{method: http.MethodPost, path: "/query_builder/preview", body: spec, contentType: specType(spec)}
	_, err := c.unhurried().exchange(ctx, r, &out, opts...)
	return out.Data, err
}

// QueryFeed is a feed of a query.
type QueryFeed struct {
	// Spec says which service and view are asked, and for what, as the API's
	// document describes it: an object in JSON or in YAML.
	Spec []byte
	// Wait is how long to wait for the first refresh, at most a minute. The
	// feed is made whether it has ended by then or not.
	Wait time.Duration
}

// CreateQueryFeed makes a feed of a query. Its first refresh, which
// [Client.WatchRefresh] follows, is its LastRefresh.
func (c *Client) CreateQueryFeed(ctx context.Context, f QueryFeed, opts ...CallOption) (DataFeed, error) {
	return c.createFetched(ctx, url.Values{"type": {string(feedmill.FeedQuery)}}, f.Spec, f.Wait, opts...)
}

// createFetched makes a feed that fetches its data, and waits for its first refresh.
func (c *Client) createFetched(ctx context.Context, query url.Values, spec []byte, wait time.Duration, opts ...CallOption) (DataFeed, error) {
	r := request{method: http.MethodPost, path: "/data_feeds?" + query.Encode(), body: spec, contentType: specType(spec)}
	var out one[DataFeed]
	if wait <= 0 {
		_, err := c.exchange(ctx, r, &out, opts...)
		return out.Data, err
	}
	r.header = map[string]string{"Prefer": fmt.Sprintf("wait=%d", int64((wait+time.Second-1)/time.Second))}
	if _, err := c.unhurried().exchange(ctx, r, &out, opts...); err != nil {
		return DataFeed{}, err
	}
	// The answer tells of the feed as it was made, so that it can be repeated.
	return c.DataFeed(ctx, out.Data.ID)
}

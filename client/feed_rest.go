package client

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// RestFeed is a feed that fetches its data from a REST API.
type RestFeed struct {
	// Spec says where the data is fetched, how it is read and when it is
	// fetched again, as the API's document describes it: an object in JSON or
	// in YAML.
	Spec []byte
	// SourceOf is the id of a feed whose fetches the new one is made of, too.
	SourceOf string
	// Wait is how long to wait for the first refresh, at most a minute. The
	// feed is made whether it has ended by then or not.
	Wait time.Duration
}

// CreateRestFeed makes a feed that fetches its data. Its first refresh, which
// [Client.WatchRefresh] follows, is its LastRefresh.
func (c *Client) CreateRestFeed(ctx context.Context, f RestFeed, opts ...CallOption) (DataFeed, error) {
	query := url.Values{"type": {string(feedmill.FeedREST)}}
	if f.SourceOf != "" {
		query.Set("sourceOf", f.SourceOf)
	}
	return c.createFetched(ctx, query, f.Spec, f.Wait, opts...)
}

// specType is the media type of a definition: JSON where it begins like an object,
// else YAML.
func specType(spec []byte) string {
	if text := bytes.TrimSpace(spec); len(text) == 0 || text[0] == '{' {
		return "application/json"
	}
	return "application/yaml"
}

// UpdateRestFeed changes a feed by a definition in JSON or YAML: each of its
// members takes the place of the old one.
func (c *Client) UpdateRestFeed(ctx context.Context, id string, spec []byte, opts ...CallOption) (DataFeed, error) {
	var out one[DataFeed]
	r := request{method: http.MethodPatch, path: feedPath(id), body: spec, contentType: specType(spec)}
	_, err := c.exchange(ctx, r, &out, opts...)
	return out.Data, err
}

// PreviewChange fetches once with the changes of a definition, and compares with the feed.
func (c *Client) PreviewChange(ctx context.Context, t feedmill.FeedType, feed string, changes []byte, opts ...CallOption) (DataPreview, error) {
	var out one[DataPreview]
	r := request{method: http.MethodPost, path: "/data_feeds/preview?type=" + string(t), body: changes, contentType: specType(changes)}
	_, err := c.unhurried().exchange(ctx, r, &out, append(opts, Comparing(feed))...)
	return out.Data, err
}

// PreviewRestFeed fetches data and says what would become of it. Nothing is
// kept. It may take as long as it takes; the context ends it.
func (c *Client) PreviewRestFeed(ctx context.Context, spec []byte, opts ...CallOption) (DataPreview, error) {
	var out one[DataPreview]
	r := request{method: http.MethodPost, path: "/data_feeds/preview?type=" + string(feedmill.FeedREST), body: spec, contentType: specType(spec)}
	_, err := c.unhurried().exchange(ctx, r, &out, opts...)
	return out.Data, err
}

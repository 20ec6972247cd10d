package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// DataFeed is a typed table and what is known of it.
type DataFeed struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Type        feedmill.FeedType  `json:"type"`
	State       feedmill.FeedState `json:"state"`
	Columns     []feedmill.Column  `json:"columns"`
	RowCount    int64              `json:"rowCount"`
	// ByteSize is how large the data is as the server keeps it.
	ByteSize int64 `json:"byteSize"`
	// Version counts from 1 with every change of the data.
	Version     int64              `json:"version"`
	ContentHash string             `json:"contentHash"`
	Mode        feedmill.FeedMode  `json:"mode"`
	Key         []string           `json:"key"`
	LastRefresh *Refresh           `json:"lastRefresh"`
	LastError   *FeedError         `json:"lastError"`
	Warnings    []feedmill.Warning `json:"warnings"`
	// Source says how the data is read.
	Source    json.RawMessage `json:"source"`
	CreatedAt time.Time       `json:"createdAt"`
	UpdatedAt time.Time       `json:"updatedAt"`
}

// FeedError says why a refresh failed.
type FeedError = feedmill.FeedError

// Refresh is one try to bring a feed new data; an upload is one too.
type Refresh struct {
	ID           string                `json:"id"`
	State        feedmill.RefreshState `json:"state"`
	StartedAt    time.Time             `json:"startedAt"`
	EndedAt      time.Time             `json:"endedAt"`
	Duration     Milliseconds          `json:"durationMs"`
	BytesIn      int64                 `json:"bytesIn"`
	RowsIn       int64                 `json:"rowsIn"`
	RowsStored   int64                 `json:"rowsStored"`
	RowsRejected int64                 `json:"rowsRejected"`
	// Version is the one that it made, 0 where it made none.
	Version  int64              `json:"version"`
	Warnings []feedmill.Warning `json:"warnings"`
	Error    *FeedError         `json:"error"`
}

// DataFeedChange is what is to be different about a feed.
type DataFeedChange struct {
	Name        Field[string] `json:"name,omitzero"`
	Description Field[string] `json:"description,omitzero"`
}

func feedPath(id string) string { return "/data_feeds/" + url.PathEscape(id) }

// DataFeeds goes through the feeds, newest first.
func (c *Client) DataFeeds(ctx context.Context) iter.Seq2[DataFeed, error] {
	return list[DataFeed](ctx, c, "/data_feeds", nil)
}

// DataFeed reads what is known of a feed.
func (c *Client) DataFeed(ctx context.Context, id string) (DataFeed, error) {
	var out one[DataFeed]
	_, err := c.call(ctx, http.MethodGet, feedPath(id), nil, &out)
	return out.Data, err
}

// ChangeDataFeed renames or describes a feed.
func (c *Client) ChangeDataFeed(ctx context.Context, id string, change DataFeedChange) (DataFeed, error) {
	var out one[DataFeed]
	_, err := c.call(ctx, http.MethodPatch, feedPath(id), change, &out)
	return out.Data, err
}

// DeleteDataFeed deletes a feed with its data. Whoever reads it can finish.
func (c *Client) DeleteDataFeed(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, feedPath(id), nil, nil)
	return err
}

// Refreshes goes through what brought a feed its data, newest first.
func (c *Client) Refreshes(ctx context.Context, feed string) iter.Seq2[Refresh, error] {
	return list[Refresh](ctx, c, feedPath(feed)+"/refreshes", nil)
}

func refreshPath(feed, id string) string { return feedPath(feed) + "/refreshes/" + url.PathEscape(id) }

// Refresh reads what a refresh did.
func (c *Client) Refresh(ctx context.Context, feed, id string) (Refresh, error) {
	var out one[Refresh]
	_, err := c.call(ctx, http.MethodGet, refreshPath(feed, id), nil, &out)
	return out.Data, err
}

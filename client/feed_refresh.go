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

// Refresh is one try to bring a feed new data; an upload is one too.
type Refresh struct {
	ID    string                `json:"id"`
	State feedmill.RefreshState `json:"state"`
	// Trigger is what asked for it: schedule, retry, a key_… or a df_…, and Stage what
	// is being done while it waits or runs.
	Trigger string                `json:"trigger"`
	Stage   feedmill.RefreshStage `json:"stage"`
	// Progress is the share that is done, nil where nobody knows.
	Progress  *float64     `json:"progress"`
	StartedAt time.Time    `json:"startedAt"`
	EndedAt   time.Time    `json:"endedAt"`
	Duration  Milliseconds `json:"durationMs"`
	// Requests and Pages are what was asked for, and what of it was data.
	Requests     int64 `json:"requests"`
	Pages        int64 `json:"pages"`
	BytesIn      int64 `json:"bytesIn"`
	RowsIn       int64 `json:"rowsIn"`
	RowsStored   int64 `json:"rowsStored"`
	RowsRejected int64 `json:"rowsRejected"`
	// RowsSuperseded are rows whose key a later row of the same load has, and
	// RowsKnown rows that the feed had already.
	RowsSuperseded int64 `json:"rowsSuperseded"`
	RowsKnown      int64 `json:"rowsKnown"`
	// Parts is how many windows of time or rows of each there are, and PartsDone
	// how many of them are done; both are 0 where it is all one.
	Parts     int64 `json:"parts"`
	PartsDone int64 `json:"partsDone"`
	// Version is the one that it made, 0 where it made none.
	Version int64 `json:"version"`
	// Rows is what is different in it from the version before, nil where the rows
	// have no key.
	Rows *RowChanges `json:"rows"`
	// Outcome is "changed" or "unchanged" for one that succeeded.
	Outcome  string             `json:"outcome"`
	Warnings []feedmill.Warning `json:"warnings"`
	Error    *FeedError         `json:"error"`
	// Trace is what was asked for, in order: of more than 2,000 requests the first
	// and the last 1,000. Only [Client.Refresh] has it.
	Trace []TracedRequest `json:"trace"`
}

// Ended reports whether nothing comes of the refresh any more.
func (r Refresh) Ended() bool {
	return r.State == feedmill.RefreshSucceeded || r.State == feedmill.RefreshFailed
}

// TracedRequest is a request to a source and what came of it. Status is 0 where
// there was no answer, and Page where it was no data.
type TracedRequest = feedmill.TracedRequest

// Refreshes goes through what brought a feed its data, newest first.
func (c *Client) Refreshes(ctx context.Context, feed string) iter.Seq2[Refresh, error] {
	return list[Refresh](ctx, c, feedPath(feed)+"/refreshes", nil)
}

func refreshPath(feed, id string) string { return feedPath(feed) + "/refreshes/" + url.PathEscape(id) }

// Refresh reads what a refresh did, with its trace.
func (c *Client) Refresh(ctx context.Context, feed, id string) (Refresh, error) {
	return ask[Refresh](ctx, c, http.MethodGet, refreshPath(feed, id), nil)
}

// RefreshDataFeed has a feed fetch its data now. It returns the refresh that
// waits or runs already, where there is one; [Client.WatchRefresh] follows it. With
// [AcceptUnexpected] it takes rows that are not what is expected of the feed.
func (c *Client) RefreshDataFeed(ctx context.Context, feed string, opts ...CallOption) (Refresh, error) {
	return ask[Refresh](ctx, c, http.MethodPost, feedPath(feed)+"/refresh", nil, opts...)
}

// CancelRefresh ends a refresh that waits or runs. The feed keeps its data.
func (c *Client) CancelRefresh(ctx context.Context, feed, id string) (Refresh, error) {
	return ask[Refresh](ctx, c, http.MethodDelete, refreshPath(feed, id), nil)
}

// PauseDataFeed keeps a feed from fetching its data until it is resumed.
func (c *Client) PauseDataFeed(ctx context.Context, feed string, opts ...CallOption) (DataFeed, error) {
	return ask[DataFeed](ctx, c, http.MethodPost, feedPath(feed)+"/pause", nil, opts...)
}

// ResumeDataFeed lets a feed fetch its data again.
func (c *Client) ResumeDataFeed(ctx context.Context, feed string, opts ...CallOption) (DataFeed, error) {
	return ask[DataFeed](ctx, c, http.MethodPost, feedPath(feed)+"/resume", nil, opts...)
}

// Reject is a row that a refresh did not store: the record of the source, the page that it
// was on where there were pages, and the first value that did not fit.
type Reject struct {
	Record int64                      `json:"record"`
	Page   *int                       `json:"page"`
	Column string                     `json:"column"`
	Value  string                     `json:"value"`
	Reason string                     `json:"reason"`
	Raw    map[string]json.RawMessage `json:"raw"`
}

// RejectedRows goes through the rows that a refresh did not store. [Client.Rejects] reads
// all of them as lines.
func (c *Client) RejectedRows(ctx context.Context, feed, refresh string) iter.Seq2[Reject, error] {
	return list[Reject](ctx, c, refreshPath(feed, refresh)+"/rejects", nil)
}

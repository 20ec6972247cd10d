package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// DataFeedSearch asks for a part of the feeds.
type DataFeedSearch struct {
	// States are those that a feed may have, none for any.
	States []feedmill.FeedState
	// Text is what the name of a feed or the label of its source has in it.
	Text string
	// Sort is name, createdAt, updatedAt, rowCount or byteSize, with a minus before
	// it for the reverse order; empty means the newest first.
	Sort string
	// Counts asks for how many feeds have each state.
	Counts bool
	// Limit is how many feeds the part has, 0 for as many as the client's PageSize.
	Limit int
	// Cursor is the Next of the part before.
	Cursor string
}

// DataFeedPage is a part of the feeds.
type DataFeedPage struct {
	Feeds []DataFeed
	// Total is how many feeds there are in all parts.
	Total int64
	// Counts are how many feeds have each state, whatever states were asked for.
	Counts map[feedmill.FeedState]int64
	// Next is where the next part begins, empty where there is none.
	Next string
}

// SearchDataFeeds reads a part of the feeds.
func (c *Client) SearchDataFeeds(ctx context.Context, q DataFeedSearch) (page DataFeedPage, err error) {
	values := make(url.Values)
	var states []string
	for _, state := range q.States {
		states = append(states, string(state))
	}
	set := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	set("state", strings.Join(states, ","))
	set("q", q.Text)
	set("sort", q.Sort)
	set("cursor", q.Cursor)
	if q.Counts {
		set("counts", "state")
	}
	if limit := cmp.Or(q.Limit, c.PageSize); limit > 0 {
		set("limit", strconv.Itoa(limit))
	}
	path := "/data_feeds"
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	header, err := c.call(ctx, http.MethodGet, path, nil, &page.Feeds)
	if err != nil {
		return DataFeedPage{}, err
	}
	page.Total, page.Next = totalOf(header), nextCursor(header)
	page.Counts = countsOf[feedmill.FeedState](header)
	return page, nil
}

// totalOf is how many records a list has in all, 0 where it does not say.
func totalOf(header http.Header) int64 {
	n, _ := strconv.ParseInt(header.Get("X-Total-Count"), 10, 64)
	return n
}

// nextCursor is where the next part of a list begins.
func nextCursor(header http.Header) string {
	m := nextLink.FindStringSubmatch(header.Get("Link"))
	if m == nil {
		return ""
	}
	next, err := url.Parse(m[1])
	if err != nil {
		return ""
	}
	return next.Query().Get("cursor")
}

// countsOf reads how many records there are of each kind.
func countsOf[T ~string](header http.Header) map[T]int64 {
	counts := make(map[T]int64)
	for part := range strings.SplitSeq(header.Get("X-Counts"), ",") {
		word, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.ParseInt(number, 10, 64); ok && err == nil {
			counts[T(word)] = n
		}
	}
	return counts
}

package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// FeedVersion is the data of a feed as it was from one moment on. [RowQuery] reads
// it by its number.
type FeedVersion struct {
	Version   int64     `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
	RowCount  int64     `json:"rowCount"`
	ByteSize  int64     `json:"byteSize"`
	// Rows is what is different from the version before, nil where the rows have
	// no key.
	Rows *RowChanges `json:"rows"`
	// RefreshID is what brought the version.
	RefreshID string `json:"refreshId"`
	Pinned    bool   `json:"pinned"`
	// Parents lists the versions of other feeds that the version was built from. Upstream has
	// the same versions, for programs of earlier releases.
	Parents  []ParentVersion   `json:"parents"`
	Upstream []UpstreamVersion `json:"upstream"`
}

// ParentVersion is a version of another feed that a version was built from.
type ParentVersion struct {
	FeedID  string `json:"feedId"`
	Version int64  `json:"version"`
}

// UpstreamVersion is a [ParentVersion] as earlier releases have it.
type UpstreamVersion struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`
}

// RowChanges counts rows that came, that have other values, and that went.
type RowChanges = feedmill.RowChanges

// Keep says which versions of a feed stay besides the current one and those that
// are pinned: the newest so many, and all that were made in so many days.
type Keep struct {
	Versions int `json:"versions,omitzero"`
	Days     int `json:"days,omitzero"`
}

func versionPath(feed string, number int64) string {
	return feedPath(feed) + "/versions/" + strconv.FormatInt(number, 10)
}

// FeedVersions goes through the versions of a feed that are kept, newest first.
func (c *Client) FeedVersions(ctx context.Context, feed string) iter.Seq2[FeedVersion, error] {
	return list[FeedVersion](ctx, c, feedPath(feed)+"/versions", nil)
}

// FeedVersion reads what is known of a version.
func (c *Client) FeedVersion(ctx context.Context, feed string, number int64) (FeedVersion, error) {
	return ask[FeedVersion](ctx, c, http.MethodGet, versionPath(feed, number), nil)
}

// PinVersion has a version kept until it is let go.
func (c *Client) PinVersion(ctx context.Context, feed string, number int64, pinned bool) (FeedVersion, error) {
	return ask[FeedVersion](ctx, c, http.MethodPatch, versionPath(feed, number), map[string]bool{"pinned": pinned})
}

// FeedChanges reads the rows in which two versions of a feed differ; 0 is the current one.
// Each says in _change whether it is an insert, an update or a delete, and an update has the
// old row in _before. A version that is not kept any more is a [*Problem] with the status
// 410. The Version of the query does not count.
func (c *Client) FeedChanges(ctx context.Context, feed string, from, to int64, q RowQuery) (*Rows, error) {
	q.Version = 0
	values := q.parameters()
	values.Set("from", strconv.FormatInt(from, 10))
	if to > 0 {
		values.Set("to", strconv.FormatInt(to, 10))
	}
	return c.rows(ctx, request{method: http.MethodGet, path: feedPath(feed) + "/changes?" + values.Encode()})
}

// RestoreVersion gives a feed a new version with the rows of an older one. One that
// replaces its rows on a schedule is paused.
func (c *Client) RestoreVersion(ctx context.Context, feed string, number int64, opts ...CallOption) (DataFeed, error) {
	return ask[DataFeed](ctx, c, http.MethodPost, versionPath(feed, number)+"/restore", nil, opts...)
}

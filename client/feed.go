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
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// TableName is the name of the feed in the catalogue.
	TableName string             `json:"tableName"`
	Type      feedmill.FeedType  `json:"type"`
	State     feedmill.FeedState `json:"state"`
	Columns   []feedmill.Column  `json:"columns"`
	RowCount  int64              `json:"rowCount"`
	// ByteSize is how large the data is as the server keeps it.
	ByteSize int64 `json:"byteSize"`
	// Version counts from 1 with every change of the data.
	Version     int64             `json:"version"`
	ContentHash string            `json:"contentHash"`
	Mode        feedmill.FeedMode `json:"mode"`
	Key         []string          `json:"key"`
	// SchemaPolicy is widen or freeze: whether data may give the feed new columns and
	// wider types.
	SchemaPolicy string `json:"schemaPolicy"`
	// Keep says which versions stay.
	Keep Keep `json:"keep"`
	// ExpectEvery is how long the feed may go without new data, such as 1d, and Stale
	// says that it went longer.
	ExpectEvery string `json:"expectEvery"`
	Stale       bool   `json:"stale"`
	// Expect is what the rows of a new version must be like, nil for anything.
	Expect *Expect `json:"expect"`
	// Schedule says when the data is fetched, nil for a feed that does not by
	// itself, and NextRefreshAt when the next time is.
	Schedule      *Schedule `json:"schedule"`
	NextRefreshAt time.Time `json:"nextRefreshAt"`
	LastRefresh   *Refresh  `json:"lastRefresh"`
	// LastSuccessAt is when a refresh or an upload last succeeded, and Failures how many
	// refreshes failed since.
	LastSuccessAt time.Time `json:"lastSuccessAt"`
	Failures      int       `json:"failures"`
	// PausedReason is user or failures for a feed that is paused.
	PausedReason string `json:"pausedReason"`
	// RecentRefreshes are what came of up to 30 refreshes, oldest first: changed,
	// unchanged, failed or running.
	RecentRefreshes []string           `json:"recentRefreshes"`
	LastError       *FeedError         `json:"lastError"`
	Warnings        []feedmill.Warning `json:"warnings"`
	// Source says how the data is read, or fetched. No secret is in it.
	Source json.RawMessage `json:"source"`
	// SourceLabel says in short where the data comes from.
	SourceLabel string `json:"sourceLabel"`
	// Rules is the version of the rules that the data is read by.
	Rules     int       `json:"rules"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// Table is the feed as an Iceberg table, nil if there is none or in a list.
	Table *Table `json:"table,omitzero"`
}

// Table is a feed as a table of the Iceberg catalogue.
type Table struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Version is the version of the feed that the table's current snapshot has.
	Version          int64  `json:"version"`
	MetadataLocation string `json:"metadataLocation"`
}

// FeedError says why a refresh failed.
type FeedError = feedmill.FeedError

// Schedule is when a feed fetches its data: at an interval, or by a cron
// expression in a time zone.
type Schedule struct {
	// Every is such as 15m or 1d, at least a minute.
	Every    string `json:"every,omitzero"`
	Cron     string `json:"cron,omitzero"`
	Timezone string `json:"timezone,omitzero"`
}

// DataFeedChange is what is to be different about a feed.
type DataFeedChange struct {
	Name        Field[string] `json:"name,omitzero"`
	Description Field[string] `json:"description,omitzero"`
	TableName   Field[string] `json:"tableName,omitzero"`
	// Keep is null for the usual rule.
	Keep Field[Keep] `json:"keep,omitzero"`
	// SchemaPolicy, ExpectEvery and Expect are as the feed has them; null expects
	// nothing.
	SchemaPolicy Field[string] `json:"schemaPolicy,omitzero"`
	ExpectEvery  Field[string] `json:"expectEvery,omitzero"`
	Expect       Field[Expect] `json:"expect,omitzero"`
	// The rest is of feeds that fetch their data. Each takes the place of what
	// was there, whole; the API's document says what stands in them.
	Request     Field[json.RawMessage] `json:"request,omitzero"`
	Auth        Field[json.RawMessage] `json:"auth,omitzero"`
	TLS         Field[json.RawMessage] `json:"tls,omitzero"`
	Response    Field[json.RawMessage] `json:"response,omitzero"`
	Pagination  Field[json.RawMessage] `json:"pagination,omitzero"`
	Incremental Field[json.RawMessage] `json:"incremental,omitzero"`
	Each        Field[json.RawMessage] `json:"each,omitzero"`
	Job         Field[json.RawMessage] `json:"job,omitzero"`
	Columns     Field[json.RawMessage] `json:"columns,omitzero"`
	// OtherColumns is keep or drop.
	OtherColumns Field[string]            `json:"otherColumns,omitzero"`
	Deleted      Field[json.RawMessage]   `json:"deleted,omitzero"`
	FullEvery    Field[string]            `json:"fullEvery,omitzero"`
	Retry        Field[json.RawMessage]   `json:"retry,omitzero"`
	RateLimit    Field[json.RawMessage]   `json:"rateLimit,omitzero"`
	Errors       Field[json.RawMessage]   `json:"errors,omitzero"`
	Schedule     Field[Schedule]          `json:"schedule,omitzero"`
	Mode         Field[feedmill.FeedMode] `json:"mode,omitzero"`
	Key          Field[[]string]          `json:"key,omitzero"`
	// Rules is the version of the rules that the data is read by.
	Rules Field[int] `json:"rules,omitzero"`
}

// Expect is what the rows of a new version must be like.
type Expect = feedmill.ExpectedRows

func feedPath(id string) string { return "/data_feeds/" + url.PathEscape(id) }

// DataFeeds goes through the feeds, newest first.
func (c *Client) DataFeeds(ctx context.Context) iter.Seq2[DataFeed, error] {
	return list[DataFeed](ctx, c, "/data_feeds", nil)
}

// DataFeed reads what is known of a feed.
func (c *Client) DataFeed(ctx context.Context, id string) (DataFeed, error) {
	return ask[DataFeed](ctx, c, http.MethodGet, feedPath(id), nil)
}

// ChangeDataFeed changes what a feed is called and how it fetches its data.
func (c *Client) ChangeDataFeed(ctx context.Context, id string, change DataFeedChange) (DataFeed, error) {
	return ask[DataFeed](ctx, c, http.MethodPatch, feedPath(id), change)
}

// DeleteDataFeed deletes a feed with its data. Reads in progress can finish. A feed that
// other feeds are built from is refused with 409 in-use; see [Force].
func (c *Client) DeleteDataFeed(ctx context.Context, id string, opts ...CallOption) error {
	_, err := c.call(ctx, http.MethodDelete, feedPath(id), nil, nil, opts...)
	return err
}

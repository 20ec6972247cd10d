package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/feedmill/feedmill"
)

// FeedProfile says what the values of a version are like.
type FeedProfile struct {
	Version  int64           `json:"version"`
	RowCount int64           `json:"rowCount"`
	Columns  []ColumnProfile `json:"columns"`
}

// ColumnProfile says what the values of a column are like. Values are as JSON has them;
// what a type has not is null.
type ColumnProfile struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	Nulls int64  `json:"nulls"`
	// Distinct is how many different values there are, estimated where DistinctExact
	// is false.
	Distinct      int64                      `json:"distinct"`
	DistinctExact bool                       `json:"distinctExact"`
	Min           json.RawMessage            `json:"min"`
	Max           json.RawMessage            `json:"max"`
	Mean          *float64                   `json:"mean"`
	Quantiles     *feedmill.ProfileQuantiles `json:"quantiles"`
	Histogram     []feedmill.ProfileBin      `json:"histogram"`
	Top           []feedmill.ProfileValue    `json:"top"`
	MaxLength     *int64                     `json:"maxLength"`
}

// FeedProfile reads what the values of a feed are like. Of the query the Filters and the
// Version count.
func (c *Client) FeedProfile(ctx context.Context, feed string, q RowQuery) (FeedProfile, error) {
	values := url.Values{"filter": q.Filters}
	if q.Version > 0 {
		values.Set("version", strconv.FormatInt(q.Version, 10))
	}
	return ask[FeedProfile](ctx, c, http.MethodGet, feedPath(feed)+"/profile?"+values.Encode(), nil)
}

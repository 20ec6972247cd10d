package client

import (
	"context"
	"net/http"
	"time"
)

// Checks are the expectations of a feed, with their results.
type Checks struct {
	// Version is the current version, 0 if there is none.
	Version int64   `json:"version"`
	Checks  []Check `json:"checks"`
}

// Check is one expectation: minRows, maxDrop, notNull, unique or expectEvery.
type Check struct {
	Check string `json:"check"`
	// Column is the column of notNull and unique.
	Column string `json:"column"`
	// Passed reports whether the current version passes; nil if there is none.
	Passed *bool `json:"passed"`
	// Found is the number of rows for minRows and maxDrop, of nulls for notNull, and of
	// repeated values for unique. Before is the previous number of rows for maxDrop.
	Found  int64 `json:"found"`
	Before int64 `json:"before"`
	// Missing reports that the version has no such column.
	Missing bool `json:"missing"`
	// Results are those of the last 30 refreshes that ran the check, oldest first.
	Results []RefreshCheck `json:"results"`
}

// RefreshCheck is the result of a check in a refresh.
type RefreshCheck struct {
	RefreshID string    `json:"refreshId"`
	At        time.Time `json:"at"`
	Passed    bool      `json:"passed"`
	Found     int64     `json:"found"`
	Before    int64     `json:"before"`
	Missing   bool      `json:"missing"`
}

// Failed is the number of results that did not pass.
func (c Check) Failed() (n int64) {
	for _, r := range c.Results {
		if !r.Passed {
			n++
		}
	}
	return n
}

// Checks checks the current version of a feed and returns the results of its last refreshes.
func (c *Client) Checks(ctx context.Context, feed string) (Checks, error) {
	return ask[Checks](ctx, c, http.MethodGet, feedPath(feed)+"/checks", nil)
}

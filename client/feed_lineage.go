package client

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
)

// Lineage is what a feed is built from, and what is built from it.
type Lineage struct {
	Feeds []LineageFeed `json:"feeds"`
	Reads []LineageRead `json:"reads"`
	// Truncated reports that there are more than 500 feeds.
	Truncated bool `json:"truncated"`
}

// LineageFeed is a feed of a lineage. The rest of a deleted feed is empty.
type LineageFeed struct {
	ID string `json:"id"`
	// Step is the number of reads between the feed and the one that was asked about: negative
	// upstream, positive downstream.
	Step      int                `json:"step"`
	Deleted   bool               `json:"deleted"`
	Name      string             `json:"name"`
	Type      feedmill.FeedType  `json:"type"`
	State     feedmill.FeedState `json:"state"`
	Stale     bool               `json:"stale"`
	Version   int64              `json:"version"`
	Schedule  *Schedule          `json:"schedule"`
	LastError *FeedError         `json:"lastError"`
	UpdatedAt time.Time          `json:"updatedAt"`
}

// LineageRead says that a feed reads another one.
type LineageRead struct {
	// Reader reads the rows of Read.
	Reader string `json:"reader"`
	Read   string `json:"read"`
	// Use is view, join or each.
	Use string `json:"use"`
	// Version is the version that was read, nil if nothing was read yet. Behind is the number of
	// newer versions.
	Version *int64 `json:"version"`
	Behind  int64  `json:"behind"`
}

// Lineage reads what a feed is built from, and what is built from it.
func (c *Client) Lineage(ctx context.Context, feed string) (Lineage, error) {
	return ask[Lineage](ctx, c, http.MethodGet, feedPath(feed)+"/lineage", nil)
}

// Package storetest is the contract of a store, as a suite that every engine
// passes. A change of what a store promises lands here first.
package storetest

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is everything that a store does, in the words of those who use it.
type Store interface {
	Workspaces
	Deletions
	Keys
	Sessions
	Responses
	Audited
	DeliveryCounts
	Processes
	Vault
	Backups
	Feeds
	Parents
	Versions
	Sources
	Subscriptions
	Listeners
	Events
	Deliveries
	DueWork
	Settled
	Replays
	Slots
	Permits
	Bodies
	Stages
	RateLimits
	Confirmations
	SendWindows
	SignIns
	Tended
	TableNames
	Tables
	Files
	Leases
	Links
	PortalLinks
	Handles
	Connections
	SQLViews
	FanOuts
	Filters

	Ping(context.Context) error
	Close() error
	// Place says what keeps the records, and where.
	Place(context.Context) (feedmill.StorePlace, error)
	// Prune removes events, with their deliveries and attempts, that were
	// accepted before the time given (which is the time in their id, whatever
	// their timestamp says), and prepares room for those to come. It removes a
	// bounded number at a time and reports whether there is more. What has
	// open deliveries stays.
	Prune(ctx context.Context, now, before time.Time) (more bool, err error)
}

// FeedChange changes a feed and returns what is written with the change: the
// response to keep, nil where there is none, and the events that tell of it.
type FeedChange = func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error)

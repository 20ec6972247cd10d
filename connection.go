package feedmill

import (
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// Connection is a database that queries of a workspace run on, under the name of
// a service.
type Connection struct {
	ID        ID
	Workspace ID
	// ServiceName is unique in the workspace.
	ServiceName string
	Connector   string
	// Config is the JSON text of where the database is and how it is reached,
	// with [Hidden] for every secret, and Secrets is the JSON text of those,
	// sealed.
	Config  []byte
	Secrets []byte

	CreatedAt time.Time
	UpdatedAt time.Time
}

// ReceivedRecord is the record of what was received for a refresh token.
func (c Connection) ReceivedRecord() string { return "connection/" + string(c.ID) + "/received" }

// ServiceFeeds is the service that every workspace has: queries over its own
// feeds.
const ServiceFeeds = "feeds"

const (
	// MaxServiceName is how many characters the name of a service may have.
	MaxServiceName = 100
	// MaxConnections is how many connections a workspace may have.
	MaxConnections = 500
)

// ReadServiceName reads the name of a service.
func ReadServiceName(f strictjson.Field) string {
	name, ok := f.Label(MaxServiceName)
	if ok && (strings.TrimSpace(name) != name || strings.Contains(name, "/") || name == "." || name == "..") {
		f.Fault("The name of a service is part of URLs: it has no slash, does not begin or end with a space, and is not a dot or two.")
	}
	return name
}

// FeedReference names a feed.
type FeedReference struct {
	ID   ID
	Name string
}

// ConnectionTest is what came of trying a connection.
type ConnectionTest struct {
	OK       bool
	Detail   string
	Duration time.Duration
}

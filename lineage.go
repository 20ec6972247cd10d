package feedmill

import "time"

// MaxLineage is the maximum number of feeds of a lineage.
const MaxLineage = 500

// Lineage is what a feed is built from, and what is built from it.
type Lineage struct {
	Feeds []LineageFeed
	Reads []LineageRead
	// Cut reports that there are more than MaxLineage feeds.
	Cut bool
}

// LineageFeed is a feed of a lineage. It has no definition and no columns, which can be large.
type LineageFeed struct {
	ID        ID
	Name      string
	Type      FeedType
	State     FeedState
	Stale     bool
	Version   int64
	Schedule  Schedule
	LastError *FeedError
	UpdatedAt time.Time
	// Deleted reports that the feed was deleted; only its id is known.
	Deleted bool
	// Step is the number of reads between the feed and the one that the lineage is of: negative
	// upstream, positive downstream.
	Step int
}

// LineageRead says that a feed reads another one.
type LineageRead struct {
	Reader, Read ID
	// Use is how the rows are used.
	Use LineageUse
	// Version is the version that was read, and Behind the number of newer versions. Version is 0 if
	// nothing was read yet.
	Version, Behind int64
}

// LineageUse is how a feed uses the rows of another one.
type LineageUse string

// The uses.
const (
	UseView LineageUse = "view" // the first view of a query
	UseJoin LineageUse = "join" // a joined view of a query
	UseEach LineageUse = "each" // one request for each row
)

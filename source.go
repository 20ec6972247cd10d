package feedmill

import "time"

// Source is where the data of feeds comes from again and again. No client ever
// sees it: its feeds stand for it. Several feeds can be made of one source, by
// the same fetch.
type Source struct {
	ID        ID
	Workspace ID
	Type      FeedType
	// Host is who is asked for the data, so that sources can take turns there.
	Host string
	// Spec is the JSON text of how the data is fetched, without secrets, and
	// Secrets is what it leaves out, sealed.
	Spec     []byte
	Secrets  []byte
	Schedule Schedule
	// Rules is the version of the rules that Spec was defined under.
	Rules Rules

	// DueAt is when the data is to be fetched, zero where nothing is planned.
	// It stays while a run is under way, so that a run that was cut off is due.
	DueAt time.Time
	// Run counts the runs, and is the number of the one that has the lease
	// until LeasedUntil. A run whose number is not this one has lost it.
	Run         int64
	LeasedUntil time.Time
	// LeasedBy is the holder of the lease, or of the last one.
	LeasedBy string

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Leased reports whether a run has the source at a time.
func (s *Source) Leased(at time.Time) bool { return s.LeasedUntil.After(at) }

// DueSource is a source that is due, and what is needed to let them take turns.
type DueSource struct {
	ID        ID
	Workspace ID
	Host      string
	DueAt     time.Time
}

// SourceChange is a source with all of its feeds, oldest first, while nobody
// else can change them, and what is written together with the change. Feeds
// that are appended are new ones of the source.
type SourceChange struct {
	Source Source
	Feeds  []Feed
	// Parents are the feeds that these feeds are built from.
	Parents []ParentLink
	// By is who asks for the refreshes of the change, empty where nobody does.
	By string

	// Versions are new ones of these feeds. Each must be the next of its feed.
	Versions []FeedVersion
	// Refreshes are written as the last ones of their feeds.
	Refreshes []Refresh
	// Traces are what was asked for in these refreshes.
	Traces             []Trace
	Events             []Event
	IdempotentResponse *IdempotentResponse
}

// Feed is the feed of an id, or nil.
func (c *SourceChange) Feed(id ID) *Feed {
	for i := range c.Feeds {
		if c.Feeds[i].ID == id {
			return &c.Feeds[i]
		}
	}
	return nil
}

// Trace is what was asked for in a refresh, in order.
type Trace struct {
	Refresh  ID
	Feed     ID
	Requests []TracedRequest
}

// TracedRequest is one request of a fetch and what came of it. Secrets are
// masked in it.
type TracedRequest struct {
	Method string    `json:"method"`
	URL    string    `json:"url"`
	At     time.Time `json:"at"`
	// Status is 0 where there was no answer; Error says why.
	Status     int     `json:"status"`
	Bytes      int64   `json:"bytes"`
	DurationMS float64 `json:"durationMs"`
	// Rows is how many records the answer had, and Page the page that it was,
	// from 1; both are 0 where it was none, such as that of a token.
	Rows int64 `json:"rows"`
	Page int   `json:"page"`
	// WaitedMS is how long it was waited before the request was made, and WaitedFor why.
	WaitedMS  float64 `json:"waitedMs,omitzero"`
	WaitedFor string  `json:"waitedFor,omitzero"`
	// Attempt counts the tries of the same request, from 1.
	Attempt int    `json:"attempt"`
	Error   string `json:"error,omitzero"`
	// Request and Excerpt are what was sent and the beginning of what the source
	// answered, where that was a failure.
	Request *SourceRequest `json:"request,omitzero"`
	Excerpt string         `json:"excerpt,omitzero"`
}

// Why it was waited before a request.
const (
	WaitRateLimit  = "rateLimit"  // of the feed's own
	WaitRetryAfter = "retryAfter" // the source asked for it
	WaitBackOff    = "backOff"    // the try before failed
)

// SourceRequest is a request to a source as it may be shown: of the headers only
// the names, and with *** for every secret.
type SourceRequest struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []string `json:"headers"`
	Body    string   `json:"body,omitzero"`
}

// SourceAnswer is a request that failed and what the source said to it: the
// status, 0 where there was no answer, and the beginning of the body. Known secrets
// are masked in it.
type SourceAnswer struct {
	Status  int           `json:"status"`
	Request SourceRequest `json:"request"`
	Excerpt string        `json:"excerpt"`
}

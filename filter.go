package feedmill

import (
	"hash/fnv"
	"time"
)

// Limits of filters and transformations. docs/reference/limits.md lists them.
const (
	MaxExpressionBytes  = 4 << 10 // of the source text
	MaxExpressionCost   = 10_000  // cost units of one evaluation
	MaxExpressionTime   = 5 * time.Millisecond
	MaxTransformedBytes = 64 << 10
	// MaxFiltersAtOnce is how many filters are evaluated before an event is accepted, and
	// MaxFilterTime how long that takes. Past either, the deliveries are promised and the
	// filters are evaluated later.
	MaxFiltersAtOnce = 100
	MaxFilterTime    = 5 * time.Millisecond
	// MaxFilterStep is how long one step evaluates the filters of promised deliveries.
	MaxFilterStep = 20 * time.Millisecond
	// MaxCachedFilters is how many filters of a workspace are kept in memory. If a
	// workspace has more, all of them are evaluated after the event is accepted.
	MaxCachedFilters = 1000
	// MaxNamedFiltered is how many subscriptions an event names whose filter it did not match.
	MaxNamedFiltered = 100
)

// The reasons of deliveries that ended because an expression failed start with these.
const (
	FilterErrorReason     = "filter-error: "
	TransformFailedReason = "transform-failed: "
)

// FilterKey identifies the text of a filter; 0 means that there is none.
func FilterKey(filter string) int64 {
	if filter == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(filter))
	return int64(h.Sum64() | 1)
}

// FilterVerdict is the result of one filter for one event.
type FilterVerdict struct {
	// Key identifies the filter that was evaluated. The verdict says nothing about another.
	Key     int64
	Matches bool
	// Error is why the evaluation failed; empty if it did not.
	Error string
}

// Reason is the reason of the delivery that records a failed evaluation.
func (v FilterVerdict) Reason() string { return FilterErrorReason + v.Error }

// FilterVerdicts are the verdicts of subscriptions' filters for one event.
type FilterVerdicts map[ID]FilterVerdict

// Of returns the verdict of a subscription whose filter has a key. A subscription without a
// filter gets every event. known is false if that filter was not evaluated.
func (v FilterVerdicts) Of(subscription ID, key int64) (verdict FilterVerdict, known bool) {
	if key == 0 {
		return FilterVerdict{Matches: true}, true
	}
	verdict, known = v[subscription]
	return verdict, known && verdict.Key == key
}

// EventFilter evaluates filters against one event.
type EventFilter func(filter string) FilterVerdict

// Filtered says which subscriptions did not get an event because of their filter.
type Filtered struct {
	Count int
	// Subscriptions are the first MaxNamedFiltered of them.
	Subscriptions []ID
}

// Shape is how a subscription changes the body of its deliveries. At most one of the two is
// set.
type Shape struct {
	Transform string // a CEL expression
	Preset    string // one of Presets
}

// Presets are the names of the built-in transformations.
var Presets = []string{"slack", "teams", "discord", "text"}

// IsZero reports whether events are sent as they are.
func (s Shape) IsZero() bool { return s == Shape{} }

// ContentJSON is the content type of JSON.
const ContentJSON = "application/json"

// Body is what an attempt sends.
type Body struct {
	Bytes       []byte
	ContentType string
}

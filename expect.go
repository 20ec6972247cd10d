package feedmill

import (
	"slices"
	"time"
)

// SchemaPolicy says what becomes of columns that data has otherwise than the feed.
type SchemaPolicy string

// The policies.
const (
	// SchemaWiden gives the feed columns that are new, and wider types.
	SchemaWiden SchemaPolicy = "widen"
	// SchemaFreeze refuses the data.
	SchemaFreeze SchemaPolicy = "freeze"
)

// Expectations are what the owner of a feed expects of its data.
type Expectations struct {
	// Schema is empty for [SchemaWiden].
	Schema SchemaPolicy `json:"schema,omitzero"`
	// Every is how long the feed may go without data that was fetched or uploaded, 0
	// where that does not matter.
	Every time.Duration `json:"every,omitzero"`
	// Rows are refused where they are not as they should.
	Rows ExpectedRows `json:"rows,omitzero"`
	// Accept has the next refresh succeed whatever Rows says.
	Accept bool `json:"accept,omitzero"`
}

// ExpectedRows are what rows must be like to become a version.
type ExpectedRows struct {
	// MinRows is how many there must be.
	MinRows int64 `json:"minRows,omitzero"`
	// MaxDrop is which share of the rows of the version before may be missing; nil
	// where all may.
	MaxDrop *float64 `json:"maxDrop,omitzero"`
	// NotNull names columns without nulls, and Unique those each of whose values is in
	// one row only.
	NotNull []string `json:"notNull,omitzero"`
	Unique  []string `json:"unique,omitzero"`
}

// IsZero reports whether nothing is expected.
func (e ExpectedRows) IsZero() bool {
	return e.MinRows == 0 && e.MaxDrop == nil && len(e.NotNull) == 0 && len(e.Unique) == 0
}

// Columns are the names of all columns that something is expected of.
func (e ExpectedRows) Columns() []string { return slices.Concat(e.NotNull, e.Unique) }

// fresh notes that the feed got its data at a time, or that it is checked against.
func (f *Feed) fresh(at time.Time) {
	f.SucceededAt, f.Stale = at, false
	f.Watch()
}

// Watch sets when the feed will be stale, by what is expected of it. One that is stale
// stays so until it gets data, or until more time is allowed.
func (f *Feed) Watch() {
	last := f.SucceededAt
	if last.IsZero() {
		last = f.CreatedAt
	}
	f.StaleAt = time.Time{}
	switch every := f.Expects.Every; {
	case every == 0:
		f.Stale = false
	case f.Stale && last.Add(every).After(f.UpdatedAt):
		f.Stale = false
		fallthrough
	case !f.Stale:
		f.StaleAt = last.Add(every)
	}
}

// GoStale makes the feed stale where it is time, and reports whether that is news.
func (f *Feed) GoStale(now time.Time) bool {
	if f.Stale || f.StaleAt.IsZero() || f.StaleAt.After(now) {
		return false
	}
	f.Stale, f.StaleAt = true, time.Time{}
	return true
}

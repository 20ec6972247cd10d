package fetch

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Position is how far the fetches of a source have come.
type Position struct {
	// Cursor is the newest value seen, as it stands in the data.
	Cursor string `json:"cursor,omitempty"`
	// ETag and LastModified are of the only page of the last fetch, and
	// Request is the fingerprint of what it was asked with.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Request      string `json:"request,omitempty"`
	// Window is when the last window of time begins, and Mark the number of the
	// first row of the feed that can be of it or of a later one.
	Window string `json:"window,omitempty"`
	Mark   int64  `json:"mark,omitempty"`
	// Parents are the newest values of each parent, by its key. Where there are
	// windows and Known is set, it has all parents that were ever fetched for.
	Parents map[string]string `json:"parents,omitempty"`
	Known   bool              `json:"known,omitempty"`
	// Gone says of parents that were not there any more in which fetch that was
	// noticed.
	Gone map[string]int64 `json:"gone,omitempty"`
	// Fetches counts the fetches of many parts, so that what is staged of one is
	// not taken for that of the next.
	Fetches int64 `json:"fetches,omitempty"`
	// Upstream is the version of the feed whose rows the request was last repeated
	// for, 0 where there is none, and UpstreamID that feed.
	Upstream   int64       `json:"upstream,omitempty"`
	UpstreamID feedmill.ID `json:"upstreamId,omitempty"`
	// Full is when everything was last fetched.
	Full time.Time `json:"full,omitzero"`
}

// ParsePosition reads the text of a position; an empty one is where everything starts.
func ParsePosition(text []byte) (p Position, err error) {
	if len(text) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("read the position of a source: %w", err)
	}
	return p, nil
}

// Text returns the position as it is kept.
func (p Position) Text() []byte {
	text, _ := json.Marshal(p) // Strings always marshal.
	return text
}

// Earliest is a position from which a fetch brings all that feeds at the given
// ones do not have. Where one of them has no position yet that is everything; and
// it is not asked whether anything has changed, unless all have seen the same.
func Earliest(positions ...[]byte) ([]byte, error) {
	var earliest Position
	for i, text := range positions {
		if len(text) == 0 {
			return nil, nil
		}
		p, err := ParsePosition(text)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			earliest = p
			continue
		case p.ETag != earliest.ETag || p.LastModified != earliest.LastModified || p.Request != earliest.Request:
			earliest = Position{Cursor: earliest.Cursor, Window: earliest.Window, Parents: earliest.Parents, Known: earliest.Known, Gone: earliest.Gone, Fetches: earliest.Fetches}
		}
		earliest.Parents = earlierOfEach(earliest.Parents, p.Parents)
		earliest.Known = earliest.Known && p.Known
		if p.Window == "" || p.Window < earliest.Window {
			earliest.Window = p.Window // RFC 3339 in one zone, so the text tells
		}
		var c spec.Cursor
		c.See([]byte(p.Cursor))
		c.See([]byte(earliest.Cursor))
		if p.Cursor == "" || c.Newest() == earliest.Cursor {
			earliest.Cursor = p.Cursor
		}
	}
	return earliest.Text(), nil
}

// earlierOfEach has the earlier of two values for each parent that both know.
func earlierOfEach(a, b map[string]string) map[string]string {
	both := make(map[string]string)
	for key, value := range a {
		other, known := b[key]
		if !known {
			continue
		}
		var c spec.Cursor
		c.See([]byte(value))
		c.See([]byte(other))
		if both[key] = value; c.Newest() == value {
			both[key] = other
		}
	}
	return both
}

// Advance moves the cursor of a position to the newest value that a fetch
// brought, or to that of another position where it is newer still. It never moves
// back, and stays where there is no newest value.
func Advance(pos, other []byte, newest string) ([]byte, error) {
	p, err := ParsePosition(pos)
	if err != nil {
		return nil, err
	}
	o, err := ParsePosition(other)
	if err != nil {
		return nil, err
	}
	var c spec.Cursor
	for _, value := range []string{p.Cursor, o.Cursor, newest} {
		c.See([]byte(value))
	}
	p.Cursor = c.Newest()
	return p.Text(), nil
}

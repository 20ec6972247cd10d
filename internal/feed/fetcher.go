package feed

import (
	"fmt"

	"github.com/feedmill/feedmill"
)

// Fetcher is a mill with the sources that feeds fetch from. Sources read feeds and write
// tables through the mill, so the mill does not know them.
type Fetcher struct {
	*Mill
	sources map[feedmill.FeedType]Source
}

// NewFetcher returns a fetcher that fetches feeds of each type from its source.
func NewFetcher(m *Mill, sources map[feedmill.FeedType]Source) *Fetcher {
	return &Fetcher{m, sources}
}

// source is the kind of source that feeds of a type have.
func (m *Fetcher) source(t feedmill.FeedType) (Source, error) {
	s, ok := m.sources[t]
	if !ok {
		return nil, fmt.Errorf("unknown feed type %q", t)
	}
	return s, nil
}

package feed

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// Changes are a version as what is different from an older one, or a newer: by the key
// that the rows of both have, else by whole rows.
func (m *Mill) Changes(ctx context.Context, from, to feedmill.FeedVersion) (feedmill.FeedVersion, error) {
	key, err := m.commonKey(ctx, from, to)
	if err != nil {
		return feedmill.FeedVersion{}, err
	}
	to.Since, to.Keyed = &from, key
	return to, nil
}

// commonKey are the ids of columns that are a key of two versions, nil where there are
// none.
func (m *Mill) commonKey(ctx context.Context, a, b feedmill.FeedVersion) ([]string, error) {
	for range 2 {
		if same, err := m.haveKey(ctx, a, b.Keyed); err != nil {
			return nil, err
		} else if same {
			return b.Keyed, nil
		}
		a, b = b, a
	}
	return nil, nil
}

// table is what is read of a version: its rows, or what is different from another.
func (m *Mill) table(ctx context.Context, v feedmill.FeedVersion, format wire.Format) (*lake.Version, error) {
	if v.Since == nil {
		return lakeVersion(v), nil
	}
	changes, err := m.Reader.Changes(ctx, fmt.Sprintf("%s/%d-%d", v.Feed, v.Since.Number, v.Number), lake.Comparison{
		Old: lakeVersion(*v.Since), New: lakeVersion(v), Key: v.Keyed, TextNumbers: format.TextNumbers(),
	})
	return &changes, err
}

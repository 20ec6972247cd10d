package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Upstream lists the versions of other feeds that the rows of a version were built from,
// as far as they are known.
func (m *Mill) Upstream(t feedmill.FeedType, v feedmill.FeedVersion) []feedmill.UpstreamVersion {
	kind, ok := m.Sources[t].(offspring)
	if !ok {
		return nil
	}
	u := kind.Upstream(v.Position)
	if u.ID == "" {
		return nil
	}
	return []feedmill.UpstreamVersion{u}
}

// UpstreamWarnings warns of feeds upstream that fail or are stale, in however many steps:
// a refresh of the feed succeeds all the same, with their last good rows.
func (f *Feeds) UpstreamWarnings(ctx context.Context, feed feedmill.Feed) (warnings []feedmill.Warning, err error) {
	warn := func(code, detail string) {
		warnings = append(warnings, feedmill.Warning{Code: code, Count: 1, Detail: detail})
	}
	seen := map[feedmill.ID]bool{feed.ID: true}
	for id := f.parentOf(feed.Type, feed.Spec); id != "" && !seen[id]; {
		seen[id] = true
		up, err := f.Store.Feed(ctx, feed.Workspace, id)
		if errors.Is(err, feedmill.ErrNotFound) {
			warn("upstream-failing", fmt.Sprintf("The upstream feed %s was deleted, so this feed gets no new data. Give this feed another source, or delete it.", id))
			break
		}
		if err != nil {
			return nil, err
		}
		if up.LastError != nil {
			warn("upstream-failing", fmt.Sprintf("The upstream feed %s (%s) has failed since its version %d, so this feed has no newer data. Fix that feed; its lastError has the reason.", up.ID, up.Name, up.Version))
		}
		if up.Stale {
			warn("upstream-stale", fmt.Sprintf("The upstream feed %s (%s) has no new data within its expectEvery, so this feed may be out of date. Refresh that feed, or change its expectEvery.", up.ID, up.Name))
		}
		id = f.parentOf(up.Type, up.Spec)
	}
	return warnings, nil
}

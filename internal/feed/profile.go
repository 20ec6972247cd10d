package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Profile says what the values of a version are like. That of all rows is made once and
// kept with the version.
func (f *Feeds) Profile(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, q feedmill.Query) (feedmill.FeedProfile, error) {
	if len(q.Where) > 0 {
		if err := f.refuseNumericText(ctx, v, q); err != nil {
			return feedmill.FeedProfile{}, err
		}
		return f.Reader.Profile(ctx, lakeVersion(v), q)
	}
	of := feedmill.VersionRef{Workspace: workspace, Feed: v.Feed, Number: v.Number}
	kept, err := f.Store.VersionProfile(ctx, of)
	var p feedmill.FeedProfile
	if err == nil && kept != nil && json.Unmarshal(kept, &p) == nil {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if p, err = f.Reader.Profile(ctx, lakeVersion(v), q); err != nil {
		return p, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("keep a profile: %w", err)
	}
	if err := f.Store.KeepProfile(ctx, of, text); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
		return p, err
	}
	return p, nil
}

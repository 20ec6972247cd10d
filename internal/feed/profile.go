package feed

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
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
	if p, kept, err := f.keptProfile(ctx, of); err != nil || kept {
		return p, err
	}
	// It is made once for all who ask, and to its end: who did not wait for it finds it.
	err := f.exports.do(ctx, fmt.Sprintf("%s/%d/profile", v.Feed, v.Number), true, func(ctx context.Context) error {
		p, err := f.Reader.Profile(share.InBackground(ctx, share.Holder(ctx)), lakeVersion(v), q)
		if err != nil {
			return err
		}
		text, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("keep a profile: %w", err)
		}
		return f.Store.KeepProfile(ctx, of, text)
	})
	if err != nil {
		return feedmill.FeedProfile{}, err
	}
	p, kept, err := f.keptProfile(ctx, of)
	if err == nil && !kept {
		err = feedmill.ErrNotFound // the version went meanwhile
	}
	return p, err
}

// keptProfile finds the profile of a version, and reports whether there is one.
func (f *Feeds) keptProfile(ctx context.Context, of feedmill.VersionRef) (p feedmill.FeedProfile, kept bool, err error) {
	text, err := f.Store.VersionProfile(ctx, of)
	kept = err == nil && text != nil && json.Unmarshal(text, &p) == nil
	return p, kept, err
}

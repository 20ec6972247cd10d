package feed

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Run fetches a source for its feeds. Every page is modelled while the next
// one is on its way; the versions are written after the last.
func (m *Mill) Run(ctx context.Context, claim feedmill.Claim) ([]feedmill.FeedOutcome, error) {
	secrets, err := m.secrets(ctx, claim.Source)
	if err != nil {
		return nil, err
	}
	f := newFetching(m, claim.Feeds, claim.Report)
	// What was read is read: that it cannot be closed spoils nothing.
	defer func() {
		if err := f.close(); err != nil {
			m.Log.Warn("closing what was fetched", "source", claim.Source.ID, "error", err)
		}
	}()
	fetched, err := f.fetch(ctx, claim.Source.Type, feedmill.Fetch{
		Source: claim.Source.ID, Workspace: claim.Source.Workspace, Spec: claim.Source.Spec, Secrets: secrets, Feeds: claim.Feeds,
	}, f)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil && !isOfSource(err) {
		return nil, err
	}
	var outcomes []feedmill.FeedOutcome
	for i, t := range f.tables {
		o := feedmill.FeedOutcome{Feed: t.feed.ID, Refresh: f.counts(t), Trace: f.trace}
		fault := err
		if fault == nil && !fetched.NotModified {
			o.Position = fetched.Positions[i]
			fault = m.makeVersion(ctx, t, claim.Source.Run, &o)
		}
		if fault != nil && (ctx.Err() != nil || !isOfSource(fault)) {
			m.Drop(append(outcomes, o))
			return nil, fault
		}
		if fault != nil {
			o = failed(o, fault)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// Drop removes the files of outcomes that were not committed.
func (m *Mill) Drop(outcomes []feedmill.FeedOutcome) {
	for _, o := range outcomes {
		if o.Version != nil {
			m.remove(o.Version.File)
		}
	}
}

// makeVersion makes the next version of a table's feed, unless it would be the
// one that is there.
func (m *Mill) makeVersion(ctx context.Context, t *fetchedTable, run int64, o *feedmill.FeedOutcome) error {
	if t.failed != nil {
		return t.failed
	}
	l := &loading{
		before: t.feed, mode: t.feed.Mode, key: t.feed.Key,
		version: feedmill.FeedVersion{Feed: t.feed.ID, Number: t.feed.Version + 1, File: fmt.Sprintf("%s/%s-%d.parquet", t.feed.ID, t.feed.LastRefresh.ID, run)},
		refresh: o.Refresh,
	}
	if len(t.feed.Position) == 0 {
		l.mode = feedmill.ModeReplace // everything was fetched
	}
	if t.feed.Version > 0 && t.pages.Rows() == 0 && l.mode != feedmill.ModeReplace {
		return nil
	}
	schema, warnings, err := t.inference.Schema(t.pages)
	if err != nil {
		return err
	}
	err = m.takeTurn(ctx, func() error { return m.write(ctx, l, schema, warnings, t.pages) })
	if err != nil {
		return err
	}
	o.Refresh = l.refresh
	if t.feed.Version > 0 && !l.reshaped && l.version.ContentHash == t.feed.ContentHash {
		m.remove(l.version.File)
		return nil
	}
	l.version.CreatedAt = now()
	o.Version, o.Reshaped = &l.version, l.reshaped
	return nil
}

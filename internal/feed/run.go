package feed

import (
	"bytes"
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Run fetches a source for its feeds. Every page is modelled while the next
// one is on its way; the versions are made after the last.
func (m *Fetcher) Run(ctx context.Context, claim feedmill.Claim) (outcomes []feedmill.FeedOutcome, err error) {
	err = m.Room.Disk.During(ctx, func(ctx context.Context) error {
		outcomes, err = m.run(ctx, claim)
		return err
	})
	if feedmill.IsNoRoom(err) {
		m.forgetStage(claim.Source) // which makes room
	}
	return outcomes, err
}

func (m *Fetcher) run(ctx context.Context, claim feedmill.Claim) ([]feedmill.FeedOutcome, error) {
	source, err := m.source(claim.Source.Type)
	if err != nil {
		return nil, err
	}
	secrets, err := m.secrets(ctx, claim.Source)
	if err != nil {
		return nil, err
	}
	ctx = share.InBackground(ctx, string(claim.Source.Workspace))
	f := &fetching{mill: m.Mill, slots: m.modelling, report: claim.Report}
	mirror := m.mirrorStage(ctx, claim.Source)
	fetched, err := m.fetchFor(ctx, source, f, &claim, secrets, 1)
	for again := (restarts{}); again.wanted(ctx, err); {
		// Tables cannot take rows back, so all of it is fetched once more.
		m.closeFetched(f, claim.Source.ID)
		f = &fetching{mill: m.Mill, slots: m.modelling, report: claim.Report, trace: f.trace, counted: feedmill.Refresh{Requests: f.counted.Requests}}
		fetched, err = m.fetchFor(ctx, source, f, &claim, secrets, again.attempts)
	}
	mirror.stop(ctx, err != nil || ctx.Err() != nil)
	defer func() { m.closeFetched(f, claim.Source.ID) }()
	if ctx.Err() != nil {
		return f.asked(), context.Cause(ctx)
	}
	if err != nil && !isOfSource(err) {
		return nil, err
	}
	var outcomes []feedmill.FeedOutcome
	for i, t := range f.tables {
		o := feedmill.FeedOutcome{Feed: t.before.ID, Refresh: f.counts(t), Trace: f.trace.list()}
		fault := err
		if fault == nil && (!fetched.NotModified || awaitsTypes(t.before)) {
			t.notModified = fetched.NotModified
			o.Pins = fetched.Pins
			if !fetched.NotModified {
				o.Position = fetched.Positions[i]
				o.Upstream = source.Upstream(o.Position)
			}
			t.warn(fetched.Warnings)
			t.fetched.full, t.fetched.partial = fetched.Full && t.mode == feedmill.ModeMerge, fetched.Partial
			if fetched.Again != nil {
				t.again = fetched.Again[i]
			}
			fault = m.makeVersion(ctx, t, &o)
		}
		if fault != nil && (ctx.Err() != nil || !isOfSource(fault)) {
			m.Drop(append(outcomes, o))
			return nil, fault
		}
		if fault != nil {
			o = failed(o, fault)
		}
		if fault != nil && err == nil {
			// All of it was fetched and no version can be made of it: the next run
			// asks the source again.
			m.forgetStage(claim.Source)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// fetchFor fetches a source for the feeds of a claim.
func (m *Mill) fetchFor(ctx context.Context, source Source, f *fetching, claim *feedmill.Claim, secrets []byte, attempt int) (feedmill.Fetched, error) {
	for _, feed := range claim.Feeds {
		f.tables = append(f.tables, &fetchedTable{loading: runLoading(feed, claim.Source.Run), stage: f.reach})
	}
	f.reach(feedmill.StageFetching)
	return f.fetch(ctx, source, feedmill.Fetch{
		Source: claim.Source.ID, Workspace: claim.Source.Workspace, Spec: claim.Source.Spec, Secrets: secrets, Rules: claim.Source.Rules,
		Attempt: attempt, Stage: m.stageOf(claim.Source.ID),
		KeepSecrets: func(ctx context.Context, secrets []byte) error { return m.keepSecrets(ctx, &claim.Source, secrets) },
	}, f)
}

// closeFetched gives up what was fetched. What was read is read: that it cannot be
// closed spoils nothing.
func (m *Mill) closeFetched(f *fetching, source feedmill.ID) {
	if err := f.close(); err != nil {
		m.Log.Warn("closing fetched data failed", "source", source, "error", err)
	}
}

// keepSecrets gives a source other secrets, unless somebody has changed them
// meanwhile, or another run has the source.
func (m *Mill) keepSecrets(ctx context.Context, run *feedmill.Source, secrets []byte) error {
	sealed, err := m.Vault.Seal(secrets, run.SecretsRecord())
	if err != nil {
		return err
	}
	err = m.Sourcing.ChangeSource(ctx, run.Workspace, run.ID, func(c *feedmill.SourceChange) error {
		switch {
		case c.Source.Run != run.Run:
			return feedmill.ErrConflict
		case bytes.Equal(c.Source.Secrets, run.Secrets):
			c.Source.Secrets = sealed
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep read the secrets of a source: %w", err)
	}
	run.Secrets = sealed
	return nil
}

// asked is what was asked for in a run that was broken off.
func (f *fetching) asked() (outcomes []feedmill.FeedOutcome) {
	for _, t := range f.tables {
		outcomes = append(outcomes, feedmill.FeedOutcome{Feed: t.before.ID, Trace: f.trace.list()})
	}
	return outcomes
}

// runLoading begins the version that a run is to bring a feed. Its file is named
// after the run, so that one that has lost its lease is in nobody's way.
func runLoading(feed feedmill.Feed, run int64) *loading {
	l := &loading{
		before: feed, mode: feed.Mode, key: feed.Key,
		version: feedmill.FeedVersion{Feed: feed.ID, Number: feed.Version + 1, Rules: feed.Rules},
		file:    fmt.Sprintf("%s/%s-%d.parquet", feed.ID, feed.LastRefresh.ID, run),
		defined: feedmill.DefinedColumns(feed.Spec),
	}
	if len(feed.Position) == 0 {
		l.mode = feedmill.ModeReplace // everything is fetched
	}
	return l
}

// Drop removes the files of outcomes that were not committed.
func (m *Mill) Drop(outcomes []feedmill.FeedOutcome) {
	for _, o := range outcomes {
		for _, name := range o.Files {
			m.remove(name)
		}
		if o.Refresh.Rejects != "" {
			m.remove(o.Refresh.Rejects)
		}
	}
}

// makeVersion makes the next version of a table's feed, unless it would be the
// one that is there.
func (m *Mill) makeVersion(ctx context.Context, t *fetchedTable, o *feedmill.FeedOutcome) error {
	if t.failed != nil {
		return t.failed
	}
	has := t.before.Version > 0
	o.Refresh.Warnings = append(o.Refresh.Warnings, t.emptied()...)
	nothing := has && (t.notModified || t.rows() == 0 && t.mode != feedmill.ModeReplace)
	if nothing && !awaitsTypes(t.before) {
		if t.typed != nil {
			o.Refresh.Warnings = append(o.Refresh.Warnings, t.typed.warnings...)
		}
		return nil
	}
	t.refresh = o.Refresh
	if err := m.Room.Disk.Check(); err != nil {
		return err
	}
	if _, _, err := m.checkStored(ctx, t.before.Workspace, feedmill.ErrUnprocessable); err != nil {
		return err
	}
	write := m.writeFetched
	if nothing {
		write = m.retypeFetched
	}
	err := write(ctx, t)
	o.Refresh.Checks = t.refresh.Checks
	if err != nil {
		return err
	}
	o.Refresh = t.refresh
	if t.fetched.held {
		o.Position = nil
	}
	if t.unchanged {
		m.dropWritten(t.loading)
		return nil
	}
	t.version.CreatedAt = now()
	o.Version, o.Reshaped, o.Files = &t.version, t.reshaped, t.files()
	return nil
}

// retypeFetched gives the rows of a feed the types that somebody has set, where
// nothing new was fetched.
func (m *Mill) retypeFetched(ctx context.Context, t *fetchedTable) error {
	v, err := m.Versions.FeedVersion(ctx, t.before.Workspace, t.before.ID, t.before.Version)
	if err != nil {
		return err
	}
	return m.takeTurn(ctx, m.modelling, func(ctx context.Context) error { return m.retypeStored(ctx, t.loading, v) })
}

// writeFetched writes what was fetched, whichever way it came.
func (m *Mill) writeFetched(ctx context.Context, t *fetchedTable) error {
	if t.typed != nil {
		t.stage(feedmill.StageStoring)
		return m.takeTurn(ctx, m.modelling, func(ctx context.Context) error { return m.writeTyped(ctx, t.loading, t.typed) })
	}
	t.stage(feedmill.StageModelling)
	t.pageOf = t.pages.PageOf
	schema, warnings, err := t.inference.Schema(t.pages)
	if err != nil {
		return err
	}
	t.stage(feedmill.StageStoring)
	return m.takeTurn(ctx, m.modelling, func(ctx context.Context) error { return m.write(ctx, t.loading, schema, warnings, t.pages) })
}

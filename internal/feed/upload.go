package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
)

// Create makes a feed of an upload.
func (f *Feeds) Create(ctx context.Context, workspace feedmill.ID, u feedmill.Upload, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	u.Rules = u.Rules.Or(feedmill.RulesCurrent)
	feed := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: workspace, Source: feedmill.NewID(feedmill.PrefixDataSource),
		Name: u.Name, Type: feedmill.FeedUpload, State: feedmill.FeedPending, Mode: u.Mode, Key: u.Key, Spec: uploadSpec(u),
		Rules: u.Rules, CreatedAt: now(),
	}
	l := newLoading(ctx, feed, u)
	l.version.Spec = feed.Spec
	data, err := f.receive(ctx, l.version.Original, u, true)
	if err != nil {
		return feedmill.Feed{}, err
	}
	defer data.Close()
	if err := f.load(ctx, l, data); err != nil {
		return feedmill.Feed{}, err
	}
	feed.Switch(l.version, l.refresh)
	events, err := f.Events.of(feed, newsCreated, feedmill.NewsRefreshed)
	if err != nil {
		return feedmill.Feed{}, f.drop(l, err)
	}
	err = f.withTableName(ctx, &feed, func() error {
		response, err := respond(feed)
		if err != nil {
			return errors.Join(err, f.drop(l, nil))
		}
		return f.Store.CreateFeed(ctx, feedmill.NewFeed{Feed: feed, Version: &l.version, Refresh: &l.refresh}, events, response)
	})
	if err != nil {
		return feedmill.Feed{}, f.dropRefused(l, fmt.Errorf("create feed: %w", err))
	}
	return feed, nil
}

// Replace gives a feed a new version.
func (f *Feeds) Replace(ctx context.Context, workspace, id feedmill.ID, u feedmill.Upload, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	before, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	given := u.Reading
	u.Reading = rememberingUpload(given, before)
	l := newLoading(ctx, before, u)
	data, err := f.receive(ctx, l.version.Original, u, true)
	if err != nil {
		return feedmill.Feed{}, errors.Join(err, f.recordFailure(ctx, l, err))
	}
	defer data.Close()
	if !l.adds() {
		return f.replaceWith(ctx, l, u, data, respond)
	}
	done, err := f.adding.wait(ctx, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	defer done()
	for try := 1; ; try++ {
		if before, err = f.Store.Feed(ctx, workspace, id); err != nil {
			return feedmill.Feed{}, err
		}
		u.Reading = rememberingUpload(given, before)
		data.readAs(u.Reading)
		feed, err := f.replaceWith(ctx, newLoading(ctx, before, u), u, data, respond)
		if try == addingTries || !errors.Is(err, errConcurrentUpload) {
			return feed, err
		}
	}
}

// addingTries is how often rows are combined with those of a feed that gets
// another version meanwhile: one that is restored or replaced, whose columns
// change, or that another replica adds to.
const addingTries = 5

var errConcurrentUpload = &feedmill.Error{
	Kind: feedmill.ErrConflict, Type: "concurrent-upload", Transient: true,
	Detail: "Another upload to this feed finished first, and its data is kept. Check that data, and retry if yours is newer.",
}

// replaceWith gives a feed a version built from data that was received.
func (f *Feeds) replaceWith(ctx context.Context, l *loading, u feedmill.Upload, data *incoming, respond feedmill.FeedResponse) (feedmill.Feed, error) {
	l.version.Spec = uploadSpec(u)
	if err := f.load(ctx, l, data); err != nil {
		return feedmill.Feed{}, errors.Join(err, f.recordFailure(ctx, l, err))
	}
	change := func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		feed.Spec, feed.Rules = uploadSpec(u), u.Rules
		news := []feedmill.SourceNews{{Kind: feedmill.NewsRefreshed}}
		if l.reshaped && !l.unchanged {
			news = append(news, feedmill.SourceNews{Kind: feedmill.NewsUpdated, Fields: []string{"columns"}})
		}
		feed.Columns = l.labelled(feed.Columns)
		events, err := f.Events.tell(*feed, news...)
		if err != nil {
			return nil, nil, err
		}
		response, err := respond(*feed)
		return response, events, err
	}
	feed, err := f.settle(ctx, l.before.Workspace, l, change)
	if errors.Is(err, feedmill.ErrConflict) {
		err = errConcurrentUpload
	}
	if err != nil {
		return feedmill.Feed{}, f.dropRefused(l, fmt.Errorf("replace the data of a feed: %w", err))
	}
	return feed, nil
}

// settle writes what an upload has become: a version, or that there is nothing new.
func (f *Feeds) settle(ctx context.Context, workspace feedmill.ID, l *loading, change change) (feedmill.Feed, error) {
	if !l.unchanged {
		defer f.Engine.Wake() // for the feeds that are built from it
		return f.Store.SwitchVersion(ctx, workspace, l.version, l.refresh, change)
	}
	return f.Store.RecordRefresh(ctx, workspace, l.refresh, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if feed.Version != l.before.Version {
			return nil, nil, feedmill.ErrConflict // it is like a version that is not the last any more
		}
		return change(feed)
	})
}

// newLoading begins a try to give a feed its next version. The files are named
// after the try, so that two at the same time have nothing in common.
func newLoading(ctx context.Context, feed feedmill.Feed, u feedmill.Upload) *loading {
	id := feedmill.NewID(feedmill.PrefixRefresh)
	name := string(feed.ID) + "/" + string(id)
	return &loading{
		before: feed, mode: u.Mode, key: u.Key, columns: u.Columns, reading: u.Reading, accept: u.Accept,
		version: feedmill.FeedVersion{Feed: feed.ID, Number: feed.Version + 1, Original: name + ".original", Refresh: id, Rules: u.Rules},
		file:    name + ".parquet",
		refresh: feedmill.Refresh{ID: id, Feed: feed.ID, Trigger: feedmill.TriggerOf(ctx), StartedAt: now()},
	}
}

// adds reports whether rows of the version before stay.
func (l *loading) adds() bool { return l.mode != feedmill.ModeReplace && l.before.Version > 0 }

// load makes a version of an upload that was received. If it fails, nothing is
// left but the data.
func (m *Mill) load(ctx context.Context, l *loading, data *incoming) error {
	l.refresh.BytesIn = data.Size()
	var keeping sync.WaitGroup
	var unkept error
	if l.adds() {
		// Its rows are but a part of the version, which cannot be made of it again.
		l.version.Original = ""
	} else {
		l.version.OriginalBytes = data.Size()
		keeping.Go(func() { unkept = data.Keep(ctx) })
	}
	err := m.Room.Disk.During(ctx, func(ctx context.Context) error {
		return m.takeTurn(ctx, m.modelling, func(ctx context.Context) error { return m.versionOf(ctx, l, data) })
	})
	keeping.Wait()
	if err == nil {
		err = unkept
	}
	if err != nil {
		return m.drop(l, err)
	}
	m.finish(l)
	return nil
}

// finish ends a refresh that succeeded. Nothing is left of one that found nothing new,
// but for the rows that it rejected.
func (m *Mill) finish(l *loading) {
	l.version.CreatedAt = now()
	l.refresh.State, l.refresh.EndedAt = feedmill.RefreshSucceeded, l.version.CreatedAt
	if !l.unchanged {
		l.refresh.Version, l.refresh.Changes = l.version.Number, l.version.Changes
		return
	}
	l.refresh.Unchanged = true
	m.dropWritten(l)
	if l.version.Original != "" && !l.shared {
		m.remove(l.version.Original)
	}
}

// versionOf makes a version of data that was received, whichever door it comes by.
func (m *Mill) versionOf(ctx context.Context, l *loading, data *incoming) error {
	if decode.IsTyped(data.reading.Format) {
		return m.writeTypedUpload(ctx, l, data, data.reading)
	}
	found, err := m.infer(ctx, data)
	if err != nil {
		return err
	}
	defer found.Close()
	return m.write(ctx, l, found.schema, found.warnings, found)
}

// recordFailure writes down that data could not be modelled. What is wrong with
// the request, or never arrived, was no refresh.
func (f *Feeds) recordFailure(ctx context.Context, l *loading, cause error) error {
	refusal, ok := errors.AsType[*feedmill.Error](cause)
	if !ok || refusal.Kind != feedmill.ErrUnprocessable {
		return nil
	}
	r := l.refresh
	r.State, r.EndedAt = feedmill.RefreshFailed, now()
	r.Error = &feedmill.FeedError{
		Type: "/problems/" + refusal.Type, Title: notModelled, Detail: refusal.Detail, At: r.EndedAt,
	}
	// The feed is as it was: nothing is changed that the audit log would tell of.
	_, err := f.Store.RecordRefresh(feedmill.WithoutAudit(ctx), l.before.Workspace, r, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		events, err := f.Events.of(*feed, feedmill.NewsFailed)
		return nil, events, err
	})
	if err != nil {
		return fmt.Errorf("record a refresh: %w", err)
	}
	return nil
}

// uploadSpec is how the data is read, as the feed's record has it.
func uploadSpec(u feedmill.Upload) []byte {
	types := "auto"
	if u.Text {
		types = "text"
	}
	text, err := json.Marshal(struct {
		Format  string `json:"format"`
		Types   string `json:"types"`
		Path    string `json:"path,omitzero"`
		Explode string `json:"explode,omitzero"`
		Sheet   int    `json:"sheet,omitzero"`
		Entry   string `json:"entry,omitzero"`
		File    string `json:"file,omitzero"`
	}{u.Format, types, u.Path, u.Explode, u.Sheet, u.Entry, u.File})
	if err != nil {
		panic(err) // parameters are valid UTF-8
	}
	return text
}

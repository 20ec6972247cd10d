package api

import (
	"context"
	"io"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// notedFeeds keeps its feeds in the real store, fetches nothing, and notes what
// it is asked for.
type notedFeeds struct {
	Feeds // what no test asks for
	db    *sqlite.DB

	workspace feedmill.ID
	made      []feedmill.FetchedFeed
	patches   []feedmill.FeedPatch
	uploads   []feedmill.Upload
	// preview is what PreviewFetched returns, and refusal what is wrong with
	// every body.
	preview feedmill.FeedPreview
	refusal error
	// ready is closed when the feeds have their data.
	ready chan struct{}
}

// StoredTable is not found: no feed of these tests is a table.
func (n *notedFeeds) StoredTable(context.Context, feedmill.ID, feedmill.ID) (feedmill.Table, error) {
	return feedmill.Table{}, feedmill.ErrNotFound
}

// UpstreamWarnings is empty: no feed of these tests is built from another.
func (n *notedFeeds) UpstreamWarnings(context.Context, feedmill.Feed) ([]feedmill.Warning, error) {
	return nil, nil
}

// Upstream is empty, too.
func (n *notedFeeds) Upstream(feedmill.FeedType, feedmill.FeedVersion) []feedmill.UpstreamVersion {
	return nil
}

// newFeed is a feed of a type with a refresh in a state.
func (n *notedFeeds) newFeed(kind feedmill.FeedType, state feedmill.RefreshState) feedmill.NewFeed {
	at := now()
	f := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: n.workspace, Source: feedmill.NewID(feedmill.PrefixDataSource), Name: "Orders",
		Type: kind, State: feedmill.FeedPending, Mode: feedmill.ModeReplace, Spec: []byte(`{"request":{"url":"https://shop.example/orders"}}`), CreatedAt: at, UpdatedAt: at,
	}
	r := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, State: state, StartedAt: at}
	if ended(r) {
		r.EndedAt = at
	}
	f.Record(r)
	made := feedmill.NewFeed{Feed: f, Refresh: &r}
	if kind != feedmill.FeedUpload {
		made.Source = &feedmill.Source{ID: f.Source, Workspace: n.workspace, Type: kind, Host: "shop.example", Spec: f.Spec, CreatedAt: at, UpdatedAt: at}
	}
	return made
}

// add makes a feed of a type with a refresh in a state.
func (n *notedFeeds) add(t testing.TB, kind feedmill.FeedType, state feedmill.RefreshState, change ...func(*feedmill.Feed)) feedmill.Feed {
	t.Helper()
	made := n.newFeed(kind, state)
	for _, c := range change {
		c(&made.Feed)
	}
	err := n.db.CreateFeed(t.Context(), made, nil, nil)
	must(t, err)
	return made.Feed
}

// record writes how far a refresh has come.
func (n *notedFeeds) record(t testing.TB, r feedmill.Refresh) {
	t.Helper()
	_, err := n.db.RecordRefresh(t.Context(), n.workspace, r, func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		return nil, nil, nil
	})
	must(t, err)
}

func (n *notedFeeds) CreateFetched(ctx context.Context, _ feedmill.ID, wanted feedmill.FetchedFeed, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	n.made = append(n.made, wanted)
	if n.refusal != nil {
		return feedmill.Feed{}, n.refusal
	}
	made := n.newFeed(wanted.Type, feedmill.RefreshPending)
	kept, err := keep(made.Feed)
	if err == nil {
		err = n.db.CreateFeed(ctx, made, nil, kept)
	}
	return made.Feed, err
}

func (n *notedFeeds) PreviewFetched(_ context.Context, _ feedmill.ID, wanted feedmill.FetchedFeed) (feedmill.FeedPreview, error) {
	n.made = append(n.made, wanted)
	return n.preview, n.refusal
}

func (n *notedFeeds) Await(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	select {
	case <-ctx.Done():
		return n.db.Feed(context.WithoutCancel(ctx), workspace, id)
	case <-n.ready:
	}
	f, err := n.db.Feed(ctx, workspace, id)
	f.State = feedmill.FeedReady
	return f, err
}

// change changes the source of a feed, and returns the feed as it is then.
func (n *notedFeeds) change(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.SourceChange) error) (feedmill.Feed, error) {
	f, err := n.db.Feed(ctx, workspace, id)
	if err != nil {
		return f, err
	}
	if err := n.db.ChangeSource(ctx, workspace, f.Source, change); err != nil {
		return f, err
	}
	return n.db.Feed(ctx, workspace, id)
}

func (n *notedFeeds) RefreshFeed(ctx context.Context, workspace, id feedmill.ID, accept bool, keep feedmill.RefreshResponse) (r feedmill.Refresh, err error) {
	_, err = n.change(ctx, workspace, id, func(c *feedmill.SourceChange) (err error) {
		if r, err = c.RequestAccepting(id, accept, now()); err == nil {
			c.IdempotentResponse, err = keep(r)
		}
		return err
	})
	return r, err
}

func (n *notedFeeds) CancelRefresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error) {
	f, err := n.change(ctx, workspace, feed, func(c *feedmill.SourceChange) error {
		_, err := c.Cancel(feed, id, now())
		return err
	})
	return *f.LastRefresh, err
}

func (n *notedFeeds) Pause(ctx context.Context, workspace, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return n.change(ctx, workspace, id, func(c *feedmill.SourceChange) (err error) {
		if _, err = c.Pause(id, now()); err == nil {
			c.IdempotentResponse, err = keep(*c.Feed(id))
		}
		return err
	})
}

func (n *notedFeeds) Resume(ctx context.Context, workspace, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return n.change(ctx, workspace, id, func(c *feedmill.SourceChange) (err error) {
		if _, err = c.Resume(id, now()); err == nil {
			c.IdempotentResponse, err = keep(*c.Feed(id))
		}
		return err
	})
}

func (n *notedFeeds) Change(ctx context.Context, workspace, id feedmill.ID, p feedmill.FeedPatch) (feedmill.Feed, error) {
	n.patches = append(n.patches, p)
	f, err := n.db.ChangeFeed(ctx, workspace, id, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if p.Name != nil {
			f.Name = *p.Name
		}
		return nil, nil, n.refusal
	})
	return f, err
}

func (n *notedFeeds) Unwrap(_ context.Context, data io.Reader, _, _ string, _ int64) (feedmill.Unwrapped, error) {
	return feedmill.Unwrapped{ReadCloser: io.NopCloser(data)}, nil
}

func (n *notedFeeds) Replace(ctx context.Context, workspace, id feedmill.ID, u feedmill.Upload, _ feedmill.FeedResponse) (feedmill.Feed, error) {
	n.uploads = append(n.uploads, u)
	return n.db.Feed(ctx, workspace, id)
}

package api

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// feedsWorld is a server for feeds that fetch their data, over parts that live
// in memory and fetch nothing.
type feedsWorld struct {
	*Server
	feeds *memoryFeeds
}

func newFeedsWorld(t testing.TB) *feedsWorld {
	t.Helper()
	feeds := &memoryFeeds{
		memoryStore: &memoryStore{idempotent: make(map[string]feedmill.IdempotentResponse)}, known: make(map[feedmill.ID]feedmill.Feed),
		refreshes: make(map[feedmill.ID]feedmill.Refresh), ready: make(chan struct{}),
	}
	return &feedsWorld{feeds: feeds, Server: New(Options{
		Store: feeds, Feeds: feeds, Auth: everybody{}, Vault: labelVault{}, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})}
}

// uncalled has the methods that no test calls.
type uncalled interface{ Feeds }

// memoryFeeds is both the store and what makes feeds.
type memoryFeeds struct {
	uncalled
	*memoryStore

	mu        sync.Mutex
	known     map[feedmill.ID]feedmill.Feed
	refreshes map[feedmill.ID]feedmill.Refresh
	trace     []feedmill.TracedRequest
	made      []feedmill.FetchedFeed
	patches   []feedmill.FeedPatch
	uploads   []feedmill.Upload
	// refusal is what is wrong with every body.
	refusal error
	// ready is closed when the feeds have their data.
	ready chan struct{}
}

// add makes a feed of a type with a refresh in a state.
func (m *memoryFeeds) add(t feedmill.FeedType, state feedmill.RefreshState) feedmill.Feed {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Name: "Orders", Type: t, State: feedmill.FeedPending, Mode: feedmill.ModeReplace,
		Spec: []byte(`{"request":{"url":"https://shop.example/orders"}}`), CreatedAt: now(), UpdatedAt: now(),
	}
	r := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: f.ID, State: state, StartedAt: now()}
	f.Record(r)
	m.known[f.ID], m.refreshes[r.ID] = f, r
	return f
}

func (m *memoryFeeds) set(r feedmill.Refresh) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refreshes[r.ID] = r
}

func (m *memoryFeeds) forget(r feedmill.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.refreshes, r)
}

func (m *memoryFeeds) Feed(_ context.Context, _, id feedmill.ID) (feedmill.Feed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.known[id]
	return f, found(ok)
}

func (m *memoryFeeds) Refresh(_ context.Context, _, feed, id feedmill.ID) (feedmill.Refresh, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.refreshes[id]
	return r, found(ok && r.Feed == feed)
}

func (m *memoryFeeds) RefreshTrace(context.Context, feedmill.ID, feedmill.ID, feedmill.ID) ([]feedmill.TracedRequest, error) {
	return m.trace, nil
}

func (m *memoryFeeds) CreateFetched(_ context.Context, _ feedmill.ID, n feedmill.FetchedFeed, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	m.made = append(m.made, n)
	if m.refusal != nil {
		return feedmill.Feed{}, m.refusal
	}
	f := m.add(n.Type, feedmill.RefreshPending)
	idempotent, err := keep(f)
	m.keep(idempotent)
	return f, err
}

func (m *memoryFeeds) PreviewFetched(_ context.Context, _ feedmill.ID, n feedmill.FetchedFeed) (feedmill.FeedPreview, error) {
	m.made = append(m.made, n)
	return feedmill.FeedPreview{Rows: []byte(`[{"id":1}]`), RowCount: 1, Spec: []byte(`{"request":{}}`), Trace: m.trace}, m.refusal
}

func (m *memoryFeeds) Await(ctx context.Context, workspace, id feedmill.ID) (feedmill.Feed, error) {
	select {
	case <-ctx.Done():
		return m.Feed(context.WithoutCancel(ctx), workspace, id)
	case <-m.ready:
	}
	f, err := m.Feed(ctx, workspace, id)
	f.State = feedmill.FeedReady
	return f, err
}

func (m *memoryFeeds) RefreshFeed(_ context.Context, _, id feedmill.ID, keep feedmill.RefreshResponse) (feedmill.Refresh, error) {
	r := feedmill.Refresh{ID: feedmill.NewID(feedmill.PrefixRefresh), Feed: id, State: feedmill.RefreshPending, StartedAt: now()}
	idempotent, err := keep(r)
	m.keep(idempotent)
	m.set(r)
	return r, err
}

func (m *memoryFeeds) CancelRefresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error) {
	r, err := m.Refresh(ctx, workspace, feed, id)
	r.State, r.EndedAt = feedmill.RefreshFailed, r.StartedAt.Add(time.Second)
	m.set(r)
	return r, err
}

func (m *memoryFeeds) steer(id feedmill.ID, state feedmill.FeedState, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	f := m.known[id]
	f.State = state
	idempotent, err := keep(f)
	m.keep(idempotent)
	return f, err
}

func (m *memoryFeeds) Pause(_ context.Context, _, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return m.steer(id, feedmill.FeedPaused, keep)
}

func (m *memoryFeeds) Resume(_ context.Context, _, id feedmill.ID, keep feedmill.FeedResponse) (feedmill.Feed, error) {
	return m.steer(id, feedmill.FeedReady, keep)
}

func (m *memoryFeeds) Change(_ context.Context, _, id feedmill.ID, p feedmill.FeedPatch) (feedmill.Feed, error) {
	m.patches = append(m.patches, p)
	f := m.known[id]
	f.Name = *cmp.Or(p.Name, &f.Name)
	return f, m.refusal
}

func (m *memoryFeeds) Replace(_ context.Context, _, id feedmill.ID, u feedmill.Upload, _ feedmill.FeedResponse) (feedmill.Feed, error) {
	m.uploads = append(m.uploads, u)
	return m.known[id], nil
}

package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// PortalLinks are the links that open the portal of a workspace.
type PortalLinks interface {
	CreatePortalLink(context.Context, feedmill.PortalLink, *feedmill.IdempotentResponse) error
	PortalLinks(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.PortalLink, error)
	PortalLinkByID(ctx context.Context, workspace, id feedmill.ID) (feedmill.PortalLink, error)
	PortalLinkByHash(ctx context.Context, link feedmill.KeyHash) (feedmill.PortalLink, error)
	PortalLinkBySession(ctx context.Context, session feedmill.KeyHash) (feedmill.PortalLink, error)
	OpenPortalLink(ctx context.Context, link, session feedmill.KeyHash, at time.Time) (feedmill.PortalLink, error)
	DeletePortalLink(ctx context.Context, workspace, id feedmill.ID) error
	ForgetPortalLinks(ctx context.Context, before time.Time, limit int) (int64, error)
}

func newPortalLink(workspace feedmill.ID, secret string) feedmill.PortalLink {
	return feedmill.PortalLink{
		ID: feedmill.NewID(feedmill.PrefixPortalLink), Workspace: workspace, Key: "key_1", Link: feedmill.HashKey(secret),
		Pages: []feedmill.PortalPage{feedmill.PortalSubscriptions, feedmill.PortalEvents}, Access: feedmill.PortalWrite,
		ReturnURL: "https://app.example.com/ü?x=1", CreatedAt: now(), ExpiresAt: now().Add(time.Hour),
	}
}

var portalLinkCases = []testCase{
	{name: "opened once, in one workspace, and gone when deleted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		one, two, theirs := newPortalLink(w.ID, "one"), newPortalLink(w.ID, "two"), newPortalLink(other.ID, "theirs")
		two.Access, two.Pages, two.ReturnURL, two.Key = feedmill.PortalRead, []feedmill.PortalPage{feedmill.PortalFeeds}, "", ""
		for _, l := range []feedmill.PortalLink{one, two, theirs} {
			must(t, s.CreatePortalLink(ctx, l, nil))
		}
		all, err := s.PortalLinks(ctx, w.ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "links", []feedmill.PortalLink{two, one}, all)
		all, err = s.PortalLinks(ctx, w.ID, feedmill.Page{Limit: 10, Before: two.ID})
		must(t, err)
		equal(t, "links on the next page", []feedmill.PortalLink{one}, all)

		// A link that nobody has opened has no session, not even one of zeros.
		_, err = s.PortalLinkBySession(ctx, feedmill.KeyHash{})
		want(t, err, feedmill.ErrNotFound)
		session, at := feedmill.HashKey("session"), now().Add(time.Minute)
		opened, err := s.OpenPortalLink(ctx, one.Link, session, at)
		must(t, err)
		one.Session, one.OpenedAt = session, at
		if diff := cmp.Diff(one, opened); diff != "" {
			t.Errorf("the opened link (-want +got):\n%s", diff)
		}
		_, err = s.OpenPortalLink(ctx, one.Link, feedmill.HashKey("another"), at)
		want(t, err, feedmill.ErrNotFound)
		found, err := s.PortalLinkBySession(ctx, session)
		must(t, err)
		equal(t, "link of the session", one, found)
		found, err = s.PortalLinkByHash(ctx, one.Link)
		must(t, err)
		equal(t, "link", one, found)
		found, err = s.PortalLinkByID(ctx, w.ID, two.ID)
		must(t, err)
		equal(t, "link", two, found)
		_, err = s.PortalLinkByID(ctx, other.ID, two.ID)
		want(t, err, feedmill.ErrNotFound)

		// A link that has expired does not open.
		_, err = s.OpenPortalLink(ctx, two.Link, feedmill.HashKey("late"), two.ExpiresAt)
		want(t, err, feedmill.ErrNotFound)

		want(t, s.DeletePortalLink(ctx, other.ID, one.ID), feedmill.ErrNotFound)
		must(t, s.DeletePortalLink(ctx, w.ID, one.ID))
		want(t, s.DeletePortalLink(ctx, w.ID, one.ID), feedmill.ErrNotFound)
		_, err = s.PortalLinkBySession(ctx, session)
		want(t, err, feedmill.ErrNotFound)
		_, err = s.PortalLinkByHash(ctx, theirs.Link)
		must(t, err)
	}},
	{name: "opened by one of many at the same time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		l := newPortalLink(newWorkspace(t, s).ID, "one")
		must(t, s.CreatePortalLink(ctx, l, nil))
		var opened atomic.Int32
		var g sync.WaitGroup
		for i := range 8 {
			g.Go(func() {
				if _, err := s.OpenPortalLink(ctx, l.Link, feedmill.HashKey(string(rune('a'+i))), now()); err == nil {
					opened.Add(1)
				}
			})
		}
		g.Wait()
		equal(t, "sessions", 1, opened.Load())
	}},
	{name: "not created in a workspace that is deleted or does not exist", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		_, err := s.BeginDeletion(ctx, w.ID, now())
		must(t, err)
		for _, id := range []feedmill.ID{w.ID, feedmill.NewID(feedmill.PrefixWorkspace)} {
			want(t, s.CreatePortalLink(ctx, newPortalLink(id, "one"), nil), feedmill.ErrNotFound)
		}
	}},
	{name: "forgotten some time after they expired", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		for i, name := range []string{"a", "b", "c"} {
			l := newPortalLink(w.ID, name)
			l.ExpiresAt = now().Add(time.Duration(i) * time.Hour)
			must(t, s.CreatePortalLink(ctx, l, nil))
		}
		for _, want := range []int64{1, 1, 0} {
			n, err := s.ForgetPortalLinks(ctx, now().Add(90*time.Minute), 1)
			must(t, err)
			equal(t, "forgotten links", want, n)
		}
		_, err := s.PortalLinkByHash(ctx, feedmill.HashKey("c"))
		must(t, err)
	}},
}

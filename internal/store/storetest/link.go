package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Links are the links to the data of feeds.
type Links interface {
	// CreateLink adds a link to a feed, and keeps the response of the request in
	// the same transaction. A feed that is not there is feedmill.ErrNotFound.
	CreateLink(ctx context.Context, l feedmill.Link, response *feedmill.IdempotentResponse) error
	// Links lists the links of a feed, newest first.
	Links(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Link, error)
	// LinkByHash finds a link, expired or not. It goes with its feed.
	LinkByHash(ctx context.Context, hash feedmill.KeyHash) (feedmill.Link, error)
	// DeleteLink revokes a link of a feed.
	// LinkByID finds a link of a feed, expired or not.
	LinkByID(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Link, error)
	DeleteLink(ctx context.Context, workspace, feed, id feedmill.ID) error
	// CountLink counts a reading of a link. One that is not there is no error.
	CountLink(ctx context.Context, l feedmill.Link, at time.Time) error
}

func newLink(f feedmill.Feed) feedmill.Link {
	return feedmill.Link{
		ID: feedmill.NewID(feedmill.PrefixLink), Workspace: f.Workspace, Feed: f.ID, Name: "For Excel ü", Format: "csv",
		Fields:  []feedmill.LinkColumn{{ID: "c1", Name: "order no"}},
		Filters: []feedmill.LinkFilter{{Column: feedmill.LinkColumn{ID: "c2", Name: "price"}, Text: "price:gt:7"}},
		Hash:    feedmill.HashKey(feedmill.NewLinkSecret()), CreatedAt: now(), ExpiresAt: now().Add(time.Hour),
	}
}

var linkCases = []testCase{
	{name: "links are found by their hashes, counted, and end with their feed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, first, refresh := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &refresh}, nil, nil)
		must(t, err)
		one, two := newLink(f), newLink(f)
		two.ExpiresAt, two.Fields, two.Filters = time.Time{}, nil, nil
		response := newOnce(w.ID, "k1")
		must(t, s.CreateLink(ctx, one, &response))
		must(t, s.CreateLink(ctx, two, nil))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		for _, want := range []feedmill.Link{one, two} {
			got, err := s.LinkByHash(ctx, want.Hash)
			must(t, err)
			equal(t, "a link", want, got)
		}
		at := now().Add(time.Minute)
		must(t, s.CountLink(ctx, two, at))
		must(t, s.CountLink(ctx, two, at))
		two.Uses, two.LastUsedAt = 2, at
		all, err := s.Links(ctx, w.ID, f.ID, feedmill.Page{Limit: 10})
		must(t, err)
		equal(t, "links", []feedmill.Link{two, one}, all)
		got, err := s.LinkByID(ctx, w.ID, f.ID, one.ID)
		must(t, err)
		equal(t, "link", one, got)
		must(t, s.DeleteLink(ctx, w.ID, f.ID, one.ID))
		if _, err := s.LinkByID(ctx, w.ID, f.ID, one.ID); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("a link that is deleted: %v", err)
		}
		if err := s.DeleteLink(ctx, w.ID, f.ID, one.ID); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("a second time: %v", err)
		}
		must(t, s.CountLink(ctx, one, at))
		err = s.DeleteFeed(ctx, w.ID, f.ID, now(), nil)
		must(t, err)
		for _, gone := range []feedmill.Link{one, two} {
			if _, err := s.LinkByHash(ctx, gone.Hash); !errors.Is(err, feedmill.ErrNotFound) {
				t.Errorf("a link that is gone: %v", err)
			}
		}
		if err := s.CreateLink(ctx, newLink(f), nil); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("a link to a feed that is gone: %v", err)
		}
	}},
	{name: "links of other workspaces are not there", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		f, first, refresh := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &refresh}, nil, nil)
		must(t, err)
		l := newLink(f)
		must(t, s.CreateLink(ctx, l, nil))
		if err := s.DeleteLink(ctx, other.ID, f.ID, l.ID); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := s.LinkByID(ctx, other.ID, f.ID, l.ID); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("got %v", err)
		}
		all, err := s.Links(ctx, other.ID, f.ID, feedmill.Page{Limit: 10})
		must(t, err)
		if len(all) != 0 {
			t.Errorf("got %v", all)
		}
	}},
}

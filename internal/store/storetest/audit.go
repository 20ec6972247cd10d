package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Audited is the audit log.
type Audited interface {
	// Audit lists the audit log of a workspace, newest first. Every method that
	// makes a change for a client, under a context with feedmill.WithAudit,
	// leaves its entries in the transaction of the change.
	Audit(ctx context.Context, workspace feedmill.ID, q feedmill.AuditQuery) ([]feedmill.AuditEntry, error)
	// ForgetAudit removes up to limit entries from before a time and reports
	// how many.
	ForgetAudit(ctx context.Context, before time.Time, limit int) (int64, error)
}

// audited is a context under which a change leaves an entry.
func audited(t *testing.T, workspace feedmill.ID, action string) (context.Context, feedmill.AuditEntry) {
	e := feedmill.AuditEntry{
		Workspace: workspace, At: now(), Action: action, Actor: feedmill.Actor{Key: "key_1", Name: "Ann"},
		Fields: []string{"name", "url"}, Address: "192.0.2.1", RequestID: "r1",
	}
	return feedmill.WithAudit(t.Context(), &e), e
}

// auditLog is the audit log of a workspace, without the entries' own ids.
func auditLog(t *testing.T, s Store, workspace feedmill.ID, q feedmill.AuditQuery) []feedmill.AuditEntry {
	t.Helper()
	q.Limit = 100
	entries, err := s.Audit(t.Context(), workspace, q)
	must(t, err)
	for i := range entries {
		if !feedmill.IsID(feedmill.PrefixAudit, string(entries[i].ID)) {
			t.Errorf("the entry has the id %q", entries[i].ID)
		}
		entries[i].ID = ""
	}
	return entries
}

var auditCases = []testCase{
	{name: "every change leaves an entry", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		sub, listener := newSubscription(w.ID), newSubscription(w.ID)
		listener.Destination, listener.ListenUntil = feedmill.Destination{Kind: feedmill.DestinationListener}, now().Add(time.Hour)
		f, v, r := newFeed(w.ID)
		key, connection := newKey(w.ID), newConnection(w.ID, "warehouse")
		change := func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) { return nil, nil, nil }
		for _, c := range []struct {
			action   string
			resource feedmill.ID
			do       func(context.Context) error
		}{
			{"key.create", key.ID, func(ctx context.Context) error { return s.CreateKey(ctx, key, nil) }},
			{"key.revoke", key.ID, func(ctx context.Context) error { return s.RevokeKey(ctx, "", key.ID, now()) }},
			{"subscription.create", sub.ID, func(ctx context.Context) error {
				return s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil)
			}},
			{"subscription.update", sub.ID, func(ctx context.Context) error {
				_, err := s.ChangeSubscription(ctx, w.ID, sub.ID, func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error) { return nil, nil })
				return err
			}},
			{"subscription.replay", sub.ID, func(ctx context.Context) error {
				return s.CreateReplay(ctx, feedmill.Replay{ID: feedmill.NewID(feedmill.PrefixReplay), Workspace: w.ID, Subscription: sub.ID, Since: now(), Until: now(), CreatedAt: now()}, nil)
			}},
			{"subscription.retry", sub.ID, func(ctx context.Context) error {
				_, err := s.HastenRetries(ctx, sub.ID, now(), 10)
				return err
			}},
			{"subscription.delete", sub.ID, func(ctx context.Context) error { return s.DeleteSubscription(ctx, w.ID, sub.ID, now()) }},
			{"listener.create", listener.ID, func(ctx context.Context) error {
				return s.CreateSubscriptions(ctx, []feedmill.Subscription{listener}, 0, nil)
			}},
			{"listener.delete", listener.ID, func(ctx context.Context) error { return s.DeleteListener(ctx, w.ID, listener.ID, now()) }},
			{"connection.create", connection.ID, func(ctx context.Context) error {
				return s.CreateConnection(ctx, connection, manyConnections, nil)
			}},
			{"connection.update", connection.ID, func(ctx context.Context) error {
				_, err := s.ChangeConnection(ctx, w.ID, connection.ID, func(*feedmill.Connection, []feedmill.FeedReference) error { return nil })
				return err
			}},
			{"connection.delete", connection.ID, func(ctx context.Context) error {
				_, err := s.DeleteConnection(ctx, w.ID, connection.ID)
				return err
			}},
			{"feed.create", f.ID, func(ctx context.Context) error {
				err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
				return err
			}},
			{"feed.update", f.ID, func(ctx context.Context) error {
				_, err := s.ChangeFeed(ctx, w.ID, f.ID, change)
				return err
			}},
			{"feed.delete", f.ID, func(ctx context.Context) error {
				err := s.DeleteFeed(ctx, w.ID, f.ID, now(), nil)
				return err
			}},
		} {
			ctx, entry := audited(t, w.ID, c.action)
			must(t, c.do(ctx))
			entry.Resource = c.resource
			equal(t, c.action, []feedmill.AuditEntry{entry}, auditLog(t, s, w.ID, feedmill.AuditQuery{Action: c.action}))
		}
	}},
	{name: "a change that fails leaves none, and neither does one that nobody asked to be known", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		sub := newSubscription(w.ID)
		must(t, s.CreateSubscriptions(feedmill.WithoutAudit(t.Context()), []feedmill.Subscription{sub}, 0, nil))
		ctx, _ := audited(t, w.ID, "subscription.update")
		refused := errors.New("refused")
		_, err := s.ChangeSubscription(ctx, w.ID, sub.ID, func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error) { return nil, refused })
		want(t, err, refused)
		response := newOnce(w.ID, "k1")
		must(t, s.KeepResponse(ctx, response))
		want(t, s.CreateKey(ctx, newKey(w.ID), &response), feedmill.ErrIdempotencyKeyUsed)
		equal(t, "the log", nil, auditLog(t, s, w.ID, feedmill.AuditQuery{}))
	}},
	{name: "a change in another workspace is in both logs", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		home, other := newWorkspace(t, s), newWorkspace(t, s)
		k := newKey(other.ID)
		ctx, entry := audited(t, home.ID, "key.create")
		must(t, s.CreateKey(ctx, k, nil))
		entry.Resource = k.ID
		equal(t, "the log at home", []feedmill.AuditEntry{entry}, auditLog(t, s, home.ID, feedmill.AuditQuery{}))
		entry.Workspace, entry.Actor, entry.Address, entry.RequestID = other.ID, feedmill.Operator, "", ""
		equal(t, "the log there", []feedmill.AuditEntry{entry}, auditLog(t, s, other.ID, feedmill.AuditQuery{}))
	}},
	{name: "listed newest first, filtered, in pages", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		var all []feedmill.AuditEntry
		for i, action := range []string{"key.create", "key.create", "subscription.create"} {
			k := newKey(w.ID)
			ctx, entry := audited(t, w.ID, action)
			if i > 0 {
				feedmill.AuditOf(ctx).Actor = feedmill.Actor{Subject: "https://issuer|ann"}
				entry.Actor = feedmill.Actor{Subject: "https://issuer|ann"}
			}
			must(t, s.CreateKey(ctx, k, nil))
			entry.Resource = k.ID
			all = append([]feedmill.AuditEntry{entry}, all...)
		}
		for _, c := range []struct {
			q    feedmill.AuditQuery
			want []feedmill.AuditEntry
		}{
			{feedmill.AuditQuery{}, all},
			{feedmill.AuditQuery{Actor: "key_1"}, all[2:]},
			{feedmill.AuditQuery{Actor: "https://issuer|ann"}, all[:2]},
			{feedmill.AuditQuery{Actor: "nobody"}, nil},
			{feedmill.AuditQuery{Action: "key.create"}, all[1:]},
			{feedmill.AuditQuery{Resource: string(all[1].Resource)}, all[1:2]},
			{feedmill.AuditQuery{Since: now().Add(-time.Hour)}, all},
			{feedmill.AuditQuery{Since: now().Add(time.Hour)}, nil},
		} {
			equal(t, "the log", c.want, auditLog(t, s, w.ID, c.q))
		}
		equal(t, "another workspace's log", nil, auditLog(t, s, newWorkspace(t, s).ID, feedmill.AuditQuery{}))
		first, err := s.Audit(t.Context(), w.ID, feedmill.AuditQuery{Page: feedmill.Page{Limit: 2}})
		must(t, err)
		equal(t, "the second page", all[2:], auditLog(t, s, w.ID, feedmill.AuditQuery{Page: feedmill.Page{Before: first[1].ID}}))
	}},
	{name: "old entries are forgotten in bounded steps", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		w := newWorkspace(t, s)
		for range 3 {
			ctx, _ := audited(t, w.ID, "key.create")
			must(t, s.CreateKey(ctx, newKey(w.ID), nil))
		}
		for _, step := range []struct {
			before time.Time
			want   int64
		}{{now().Add(-time.Hour), 0}, {now().Add(time.Hour), 2}, {now().Add(time.Hour), 1}, {now().Add(time.Hour), 0}} {
			n, err := s.ForgetAudit(t.Context(), step.before, 2)
			must(t, err)
			if n != step.want {
				t.Errorf("%d are forgotten, want %d", n, step.want)
			}
		}
	}},
}

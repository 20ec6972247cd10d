package storetest

import (
	"slices"
	"testing"

	"github.com/feedmill/feedmill"
)

// match is one subscription and one event of the same workspace.
type match struct {
	name         string
	subscription func(*feedmill.Subscription)
	event        func(*feedmill.Event)
	// state is that of the one delivery; empty where there is to be none.
	state  feedmill.DeliveryState
	reason string
}

func events(names ...string) func(*feedmill.Subscription) {
	return func(s *feedmill.Subscription) { s.Events = names }
}

func filtered(resource string, names ...string) func(*feedmill.Subscription) {
	return func(s *feedmill.Subscription) { s.Events, s.ResourceID = names, resource }
}

func inState(state feedmill.SubscriptionState) func(*feedmill.Subscription) {
	return func(s *feedmill.Subscription) { s.Events, s.State = []string{"metric.created"}, state }
}

func happened(name, resource string) func(*feedmill.Event) {
	return func(e *feedmill.Event) { e.Type, e.ResourceID = name, resource }
}

var (
	aSource, anotherSource = feedmill.NewID(feedmill.PrefixDataSource), feedmill.NewID(feedmill.PrefixDataSource)
	aFeed, anotherFeed     = feedmill.NewID(feedmill.PrefixDataFeed), feedmill.NewID(feedmill.PrefixDataFeed)
)

func refreshed(source, feed feedmill.ID) func(*feedmill.Event) {
	return func(e *feedmill.Event) {
		e.Type, e.ResourceID, e.Source = "datafeed.source.refreshed", string(feed), source
	}
}

var matches = []match{
	{name: "exact name", subscription: events("metric.created"), event: happened("metric.created", ""), state: feedmill.DeliveryPending},
	{name: "exact name and a resource", subscription: events("metric.created"), event: happened("metric.created", "m_1"), state: feedmill.DeliveryPending},
	{name: "another name", subscription: events("metric.created"), event: happened("metric.deleted", "")},
	{name: "another family", subscription: events("metric.*"), event: happened("tag.created", "")},
	{name: "wildcard", subscription: events("tag.*"), event: happened("tag.created", ""), state: feedmill.DeliveryPending},
	{name: "wildcard is no prefix", subscription: events("metric.*"), event: happened("metric.deep.created", "")},
	{name: "name and wildcard fold", subscription: events("metric.created", "metric.*"), event: happened("metric.created", "m_1"), state: feedmill.DeliveryPending},
	{name: "filter", subscription: filtered("m_1", "metric.*", "metric.created"), event: happened("metric.created", "m_1"), state: feedmill.DeliveryPending},
	{name: "filter on another resource", subscription: filtered("m_2", "metric.*"), event: happened("metric.created", "m_1")},
	{name: "filter and an event of no resource", subscription: filtered("m_1", "metric.*"), event: happened("metric.created", "")},
	{name: "every event", subscription: events("*"), event: happened("order.line.paid", "o_1"), state: feedmill.DeliveryPending},
	{name: "every event of a resource", subscription: filtered("o_1", "*"), event: happened("order.paid", "o_1"), state: feedmill.DeliveryPending},
	{name: "every event of another resource", subscription: filtered("o_2", "*"), event: happened("order.paid", "o_1")},
	{name: "every event is none of a feed", subscription: events("*"), event: refreshed(aSource, aFeed)},
	{name: "every event and those of feeds", subscription: events("datasource.*", "*"), event: refreshed(aSource, aFeed), state: feedmill.DeliveryPending},
	{name: "paused", subscription: inState(feedmill.SubscriptionPaused), event: happened("metric.created", ""), state: feedmill.DeliveryPending},
	{
		name: "disabled", subscription: inState(feedmill.SubscriptionDisabled), event: happened("metric.created", ""),
		state: feedmill.DeliveryDiscarded, reason: "the subscription is disabled",
	},
	{name: "feed by name", subscription: events("datasource.refreshed"), event: refreshed(aSource, aFeed), state: feedmill.DeliveryPending},
	{name: "feed by wildcard", subscription: events("datasource.*"), event: refreshed(aSource, aFeed), state: feedmill.DeliveryPending},
	{
		name: "filter on the feed", subscription: filtered(feedmill.InternalFilter(aSource, aFeed), "datasource.*"),
		event: refreshed(aSource, aFeed), state: feedmill.DeliveryPending,
	},
	{
		name: "filter on another feed of the source", subscription: filtered(feedmill.InternalFilter(aSource, anotherFeed), "datasource.*"),
		event: refreshed(aSource, aFeed),
	},
	{
		name: "filter on the feed with another source", subscription: filtered(feedmill.InternalFilter(anotherSource, aFeed), "datasource.*"),
		event: refreshed(aSource, aFeed),
	},
}

var matchCases = []testCase{
	{name: "by name, wildcard, filter and state", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		for _, m := range matches {
			w := newWorkspace(t, s)
			sub, event := newSubscription(w.ID), newEvent(w.ID, "", "")
			m.subscription(&sub)
			m.event(&event)
			must(t, s.CreateSubscriptions(ctx, []feedmill.Subscription{sub}, 0, nil))
			_, due := accept(t, s, event)
			got, err := s.Deliveries(ctx, w.ID, feedmill.DeliveryQuery{Subscription: sub.ID, Page: feedmill.Page{Limit: 9}})
			must(t, err)
			if m.state == "" {
				if len(got)+len(due) != 0 {
					t.Errorf("%s: made %+v", m.name, got)
				}
				continue
			}
			if len(got) != 1 {
				t.Errorf("%s: made %d deliveries, want 1", m.name, len(got))
				continue
			}
			wanted := feedmill.Delivery{
				ID: got[0].ID, Workspace: w.ID, Subscription: sub.ID, Event: event.ID, Seq: got[0].Seq,
				Type: event.Type, ResourceID: event.ResourceID, State: m.state, Reason: m.reason,
				MaxAttempts: maxAttempts, DueAt: got[0].DueAt, CreatedAt: got[0].ID.Time(),
			}
			if !m.state.Open() {
				wanted.EndedAt = wanted.CreatedAt
			}
			equal(t, m.name, wanted, got[0])
			if m.state.Open() {
				equal(t, m.name+": due", []feedmill.DueDelivery{{Delivery: wanted, Payload: event.Payload}}, due)
			} else if len(due) != 0 {
				t.Errorf("%s: is due", m.name)
			}
		}
	}},
	{name: "every subscription that matches, of the event's workspace, and no deleted one", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		a, b := newWorkspace(t, s), newWorkspace(t, s)
		wanted := []feedmill.ID{
			subscribe(t, s, a.ID, "metric.*").ID,
			subscribe(t, s, a.ID, "tag.created", "metric.created").ID,
			subscribe(t, s, b.ID, "metric.created").ID,
		}
		subscribe(t, s, a.ID, "tag.*")
		deleted := subscribe(t, s, a.ID, "metric.*")
		must(t, s.DeleteSubscription(ctx, a.ID, deleted.ID, now()))
		_, due := accept(t, s, newEvent(a.ID, "metric.created", ""), newEvent(b.ID, "metric.created", ""))
		var got []feedmill.ID
		for _, d := range due {
			got = append(got, d.Subscription)
		}
		slices.Sort(got)
		equal(t, "subscriptions", wanted, got)
	}},
}

package subscribe

import (
	"context"
	"errors"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// event is an event name or wildcard that a request subscribes to.
type event struct {
	name    string
	pointer string // its place in the request
	// unavailable is the refusal of a family that is not available yet.
	unavailable *feedmill.Error
}

func (e event) isSource() bool { return feedmill.IsSourceName(e.name) }

// readEvents reads the names; one that stands there again is folded. [feedmill.EveryEvent]
// stands for all events of the halves that halves reports.
func (s *Subscriptions) readEvents(body *strictjson.Object, faults *feedmill.Faults, halves func(source bool) bool) (events []event) {
	every := -1
	n := 0
	for f, name := range body.Texts("events", feedmill.MaxSubscribedEvents) {
		if n++; name == feedmill.EveryEvent {
			if every++; every == 0 {
				events = append(events, s.everyEvent(f.Pointer(), halves)...)
			}
			continue
		}
		if slices.ContainsFunc(events, func(e event) bool { return e.name == name }) {
			continue
		}
		e := event{name: name, pointer: f.Pointer()}
		if refusal, ok := errors.AsType[*feedmill.Error](s.Catalogue.CheckSubscribed(name)); ok {
			if !errors.Is(refusal, feedmill.ErrConflict) {
				faults.AddOf(refusal, feedmill.Fault{Pointer: e.pointer, Detail: refusal.Detail})
				continue
			}
			e.unavailable = refusal
		}
		events = append(events, e)
	}
	if every >= 0 && n > every+1 {
		faults.Note("/events", "events must be only * if it has *, which includes all other events.")
	}
	return events
}

// everyEvent is what * stands for in a request: the gateway's family, if it is available, and
// all others.
func (s *Subscriptions) everyEvent(pointer string, halves func(source bool) bool) (events []event) {
	if halves(true) {
		refusal, _ := errors.AsType[*feedmill.Error](s.Catalogue.CheckSubscribed(feedmill.SourceWildcard))
		if refusal == nil || !halves(false) {
			events = append(events, event{name: feedmill.SourceWildcard, pointer: pointer, unavailable: refusal})
		}
	}
	if halves(false) {
		events = append(events, event{name: feedmill.EveryEvent, pointer: pointer})
	}
	return events
}

// bothHalves are those of a new subscription.
func bothHalves(bool) bool { return true }

func internalNames(events []event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = feedmill.InternalName(e.name)
	}
	return names
}

// unavailable is the refusal of names in families that are not available yet.
func unavailable(events []event) *feedmill.Error {
	var refusal *feedmill.Error
	for _, e := range events {
		if e.unavailable == nil {
			continue
		}
		if refusal == nil {
			first := *e.unavailable
			refusal = &first
		}
		refusal.Faults = append(refusal.Faults, feedmill.Fault{Pointer: e.pointer, Detail: e.unavailable.Detail})
	}
	return refusal
}

// internalFilter maps the resource that a subscriber names to what the
// subscription is kept with.
func (s *Subscriptions) internalFilter(ctx context.Context, workspace feedmill.ID, resource string, source bool) (string, error) {
	if !source || resource == "" {
		return resource, nil
	}
	feed, err := feedmill.ParseID(feedmill.PrefixDataFeed, resource)
	var of feedmill.ID
	if err == nil {
		of, err = s.Store.FeedSource(ctx, workspace, feed)
	}
	if errors.Is(err, feedmill.ErrNotFound) {
		const detail = "The data feed does not exist in this workspace."
		return "", &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: detail, Faults: []feedmill.Fault{{Pointer: "/filters/resourceId", Detail: detail}}}
	}
	return feedmill.InternalFilter(of, feed), err
}

// Package publish accepts events and creates their deliveries.
//
// An accepted event is stored with a delivery for each matching subscription, in one
// transaction, before the client gets a response. Deliveries that are due immediately are
// then passed to the dispatcher from memory.
package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
)

// Store accepts events.
type Store interface {
	Accept(ctx context.Context, events []feedmill.Event, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error)
}

// Queue takes deliveries that are due.
type Queue interface {
	Offer([]feedmill.DueDelivery)
	// Wake reports that the store has more work.
	Wake()
}

// Options are the dependencies of a publisher.
type Options struct {
	Store     Store
	Queue     Queue
	Catalogue *feedmill.Catalogue
	// Schemas validates the data of events, if not nil.
	Schemas *Schemas
	// Filters evaluates the filters of subscriptions; with nil, the store does so later.
	Filters *Filters
	Metrics prometheus.Registerer
}

// Publisher accepts events. It is safe for concurrent use.
type Publisher struct {
	Options
	accepted, duplicates, matched prometheus.Counter
}

// New returns a publisher.
func New(o Options) *Publisher {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	p := &Publisher{
		Options:    o,
		accepted:   count("feedmill_events_accepted_total", "Events accepted, without duplicates."),
		duplicates: count("feedmill_events_duplicate_total", "Duplicate events, by the publisher's ID."),
		matched:    count("feedmill_events_matched_total", "Deliveries created from accepted events and due immediately."),
	}
	o.Metrics.MustRegister(p.accepted, p.duplicates, p.matched)
	return p
}

// Publish accepts all events of a client, or none. The pointers in an error start with the
// index of the faulty event.
func (p *Publisher) Publish(ctx context.Context, workspace feedmill.ID, events []feedmill.NewEvent, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	ready := make([]feedmill.Event, len(events))
	var refusals []*feedmill.Error
	for i, e := range events {
		ready[i] = newEvent(workspace, e)
		var refusal *feedmill.Error
		if err := p.check(&ready[i], e.Data); errors.As(err, &refusal) {
			refusals = append(refusals, atIndex(*refusal, i))
		} else if err != nil {
			return nil, err
		}
	}
	if len(refusals) > 0 {
		return nil, join(refusals)
	}
	return p.accept(ctx, ready, keep)
}

func (p *Publisher) accept(ctx context.Context, events []feedmill.Event, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	var evaluated bool
	if p.Filters != nil {
		evaluated = p.Filters.evaluate(ctx, events)
	}
	accepted, due, err := p.Store.Accept(ctx, events, keep)
	if err != nil {
		return nil, fmt.Errorf("accepting events: %w", err)
	}
	p.Queue.Offer(due)
	if slices.ContainsFunc(accepted, func(a feedmill.Accepted) bool { return a.Promised }) {
		p.Queue.Wake()
		if evaluated { // some filters are not known here
			p.Filters.Forget(events[0].Workspace)
		}
	}
	fresh := 0
	for _, a := range accepted {
		if !a.Duplicate {
			fresh++
		}
	}
	p.accepted.Add(float64(fresh))
	p.duplicates.Add(float64(len(accepted) - fresh))
	p.matched.Add(float64(len(due)))
	return accepted, nil
}

func newEvent(workspace feedmill.ID, e feedmill.NewEvent) feedmill.Event {
	id := feedmill.NewID(feedmill.PrefixEvent)
	at := e.Timestamp
	if at.IsZero() {
		at = id.Time()
	}
	return feedmill.Event{
		ID: id, Workspace: workspace, PublisherID: e.PublisherID, DedupeKey: e.DedupeKey,
		Type: e.Type, Timestamp: at.UTC().Truncate(time.Millisecond), ResourceID: e.ResourceID,
	}
}

// check validates an event against the catalogue and renders its payload.
func (p *Publisher) check(e *feedmill.Event, data []byte) error {
	if err := p.Catalogue.CheckPublished(e.Type); err != nil {
		return err
	}
	for _, field := range [][2]string{{"/id", e.DedupeKey}, {"/resourceId", e.ResourceID}} {
		if strings.Contains(field[1], "\x00") {
			return feedmill.Invalid("", feedmill.Fault{Pointer: field[0], Detail: field[0][1:] + " must not contain the character U+0000."})
		}
	}
	payload, err := feedmill.RenderPayload(*e, data)
	var fault *jstext.Error
	if errors.As(err, &fault) {
		return feedmill.Invalid("", feedmill.Fault{Pointer: "/data" + fault.Pointer, Detail: fault.Detail})
	}
	if err != nil {
		return err
	}
	if len(payload) > feedmill.MaxPayloadBytes {
		return &feedmill.Error{
			Kind: feedmill.ErrTooLarge, Detail: fmt.Sprintf("The payload of an event must have at most %d bytes. Reduce its data.", feedmill.MaxPayloadBytes),
			Faults: []feedmill.Fault{{Detail: fmt.Sprintf("The payload of the event has %d bytes, with its numbers in JavaScript notation.", len(payload))}},
		}
	}
	e.Payload = payload
	if p.Schemas != nil {
		return p.Schemas.check(e.Type, data)
	}
	return nil
}

// atIndex adds the index of an event to the pointers of a refusal. A refusal without
// faults gets one at the event's type.
func atIndex(refusal feedmill.Error, index int) *feedmill.Error {
	faults := refusal.Faults
	if len(faults) == 0 {
		faults = []feedmill.Fault{{Pointer: "/type", Detail: refusal.Detail}}
	}
	refusal.Faults = make([]feedmill.Fault, len(faults))
	for i, f := range faults {
		f.Pointer = fmt.Sprintf("/%d%s", index, f.Pointer)
		refusal.Faults[i] = f
	}
	return &refusal
}

// join returns one refusal with the kind of the first and the faults of all.
func join(refusals []*feedmill.Error) error {
	first := *refusals[0]
	for _, r := range refusals[1:] {
		first.Faults = append(first.Faults, r.Faults...)
		if r.Detail != first.Detail {
			first.Detail = ""
		}
		if r.Type != first.Type {
			first.Type = ""
		}
	}
	return &first
}

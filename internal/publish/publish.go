// Package publish makes deliveries of events.
//
// An event that is accepted is durable together with a delivery for every
// subscription that matches it, in one transaction, before anybody is told:
// there is no moment at which one exists without the other. What is due at once
// then goes to the dispatcher from memory.
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
	Accept(ctx context.Context, events []feedmill.Event, maxAttempts int, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error)
}

// Queue takes deliveries that are due.
type Queue interface {
	Offer([]feedmill.DueDelivery)
	// Wake says that the store has more to do.
	Wake()
}

// Options are the parts that a publisher is made of.
type Options struct {
	Store     Store
	Queue     Queue
	Catalogue *feedmill.Catalogue
	// Schemas, where not nil, holds the data of events to their types.
	Schemas *Schemas
	// Attempts is how many attempts a delivery gets.
	Attempts int
	Metrics  prometheus.Registerer
}

// Publisher accepts events. It may be used from any goroutine.
type Publisher struct {
	Options
	accepted, duplicates, matched prometheus.Counter
}

// New makes a publisher.
func New(o Options) *Publisher {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "feedmill_events_" + name + "_total", Help: help})
	}
	p := &Publisher{
		Options:    o,
		accepted:   count("accepted", "Events accepted, duplicates not counted."),
		duplicates: count("duplicate", "Events whose publisher's id had been seen."),
		matched:    count("matched", "Deliveries made of accepted events and due at once."),
	}
	o.Metrics.MustRegister(p.accepted, p.duplicates, p.matched)
	return p
}

// Publish accepts the events of a client, all or none. The pointers of a
// refusal begin with the index of the event at fault.
func (p *Publisher) Publish(ctx context.Context, workspace feedmill.ID, events []feedmill.NewEvent, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	ready := make([]feedmill.Event, len(events))
	var refusals []*feedmill.Error
	for i, e := range events {
		ready[i] = newEvent(workspace, e)
		var refusal *feedmill.Error
		if err := p.check(&ready[i], e.Data); errors.As(err, &refusal) {
			refusals = append(refusals, placed(*refusal, i))
		} else if err != nil {
			return nil, err
		}
	}
	if len(refusals) > 0 {
		return nil, together(refusals)
	}
	return p.accept(ctx, ready, keep)
}

func (p *Publisher) accept(ctx context.Context, events []feedmill.Event, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, error) {
	accepted, due, err := p.Store.Accept(ctx, events, p.Attempts, keep)
	if err != nil {
		return nil, fmt.Errorf("accepting events: %w", err)
	}
	p.Queue.Offer(due)
	if slices.ContainsFunc(accepted, func(a feedmill.Accepted) bool { return a.Promised }) {
		p.Queue.Wake()
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

// check holds an event to the catalogue and renders its payload.
func (p *Publisher) check(e *feedmill.Event, data []byte) error {
	if err := p.Catalogue.CheckPublished(e.Type); err != nil {
		return err
	}
	for _, field := range [][2]string{{"/id", e.DedupeKey}, {"/resourceId", e.ResourceID}} {
		if strings.Contains(field[1], "\x00") {
			return feedmill.Invalid("", feedmill.Fault{Pointer: field[0], Detail: "This must not hold the character U+0000."})
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
			Kind: feedmill.ErrTooLarge, Detail: fmt.Sprintf("The text that is delivered for an event may have at most %d bytes.", feedmill.MaxPayloadBytes),
			Faults: []feedmill.Fault{{Detail: fmt.Sprintf("The text of this event has %d bytes, with its numbers as JavaScript writes them.", len(payload))}},
		}
	}
	e.Payload = payload
	if p.Schemas != nil {
		return p.Schemas.check(e.Type, data)
	}
	return nil
}

// placed is a refusal with the index of its event in the pointers. One that names
// no place is of the event's type.
func placed(refusal feedmill.Error, index int) *feedmill.Error {
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

// together makes one refusal of several: of the kind of the first, with the
// faults of all.
func together(refusals []*feedmill.Error) error {
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

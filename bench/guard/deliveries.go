package main

import (
	"context"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// stores are the stores that deliveries are measured on, and what the table calls them.
var stores = []struct{ name, title string }{{"sqlite", "SQLite"}, {"postgres", "PostgreSQL"}}

// publications are the ways of publishing.
var publications = []struct {
	name string
	rig.Publication
}{
	{"one event a request", rig.Publication{Batch: 1, Subscribers: 1, Publishers: 64}},
	{"100 events a request", rig.Publication{Batch: 100, Subscribers: 1, Publishers: 16}},
	{"one event to 200 subscriptions", rig.Publication{Batch: 1, Subscribers: 200, Publishers: 16}},
}

func deliveryFigures() (figures []figure) {
	for _, store := range stores {
		for _, p := range publications {
			figures = append(figures, figure{
				name: "deliveries: " + store.title + ", " + p.name, rows: []row{{measure: "CPU per delivery"}}, store: store.name,
				open: func(ctx context.Context, g *guard, s *side) (round, error) {
					server, err := s.subscribed(ctx, g, store.name, rig.Counted, p.Subscribers)
					if err != nil {
						return nil, err
					}
					return func(ctx context.Context) ([]sample, error) {
						delivered := 0
						cpu, clock, err := server.spend(ctx, func() (err error) {
							delivered, _, err = server.Deliver(ctx, g.sink, p.Publication, g.deliveries, nil)
							return err
						})
						return perUnit(cpu, clock, float64(delivered)), err
					}, nil
				},
			})
		}
	}
	return figures
}

// subscribed starts a server with subscriptions to endpoints of the sink.
func (s *side) subscribed(ctx context.Context, g *guard, store, kind string, subscriptions int) (*subject, error) {
	server, err := s.start(ctx, store)
	if err != nil {
		return nil, err
	}
	return server, g.subscribe(ctx, server, kind, subscriptions)
}

// subscribe creates subscriptions to endpoints of the sink.
func (g *guard) subscribe(ctx context.Context, server *subject, kind string, subscriptions int) error {
	if g.sink == nil {
		var err error
		if g.sink, err = rig.StartSink(); err != nil {
			return err
		}
	}
	return server.Subscribe(ctx, g.sink, kind, subscriptions)
}

// eventRate is how many events a second are published where latency is measured.
const eventRate = 50

func latencyFigures() (figures []figure) {
	for _, store := range stores {
		figures = append(figures, figure{
			name: "latency: " + store.title, store: store.name,
			rows: []row{{name: "p50", measure: "send to receipt"}, {name: "p99", measure: "send to receipt"}, {name: "CPU", measure: "CPU per event"}},
			open: func(ctx context.Context, g *guard, s *side) (round, error) {
				server, err := s.subscribed(ctx, g, store.name, rig.Timed, 1)
				if err != nil {
					return nil, err
				}
				return func(ctx context.Context) ([]sample, error) {
					var times []time.Duration
					cpu, _, err := server.spend(ctx, func() (err error) {
						times, err = g.sink.Latencies(ctx, g.events, eventRate, server.PublishStamped)
						return err
					})
					if err != nil {
						return nil, err
					}
					return []sample{
						{value: float64(rig.Percentile(times, 50))}, {value: float64(rig.Percentile(times, 99))}, {value: float64(cpu) / float64(g.events)},
					}, nil
				}, nil
			},
		})
	}
	return figures
}

// Command growth measures whether a full store is slower than an empty one: the start,
// and the median of a publish, a read, and the first page of each list.
//
// The same store is measured twice. In between, rows of a feed, a subscription, an
// event and a delivery that the program itself has written are multiplied by SQL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

type options struct {
	rig.Options
	feeds, subscriptions, deliveries, versions int
	requests, starts                           int
}

func main() {
	var o options
	flag.IntVar(&o.feeds, "feeds", 100_000, "feeds of the full store")
	flag.IntVar(&o.subscriptions, "subscriptions", 100_000, "subscriptions of the full store, to events that are not published")
	flag.IntVar(&o.deliveries, "deliveries", 10_000_000, "deliveries in the log of one subscription")
	flag.IntVar(&o.versions, "versions", 1000, "versions of one feed")
	flag.IntVar(&o.requests, "requests", 301, "requests of each kind")
	flag.IntVar(&o.starts, "starts", 5, "starts of the program")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) })
}

// target is how many times longer a full store may take.
const target = 1.5

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	s, err := newSample(ctx, mill)
	if err != nil {
		return err
	}
	defer s.sink.Stop()
	empty, err := s.measure(ctx, o)
	if err != nil {
		return err
	}
	mill.Stop()
	began := time.Now()
	if err := fill(ctx, s, o); err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	if err := mill.Restart(); err != nil {
		return err
	}
	fmt.Printf("%d feeds, %d subscriptions, %d deliveries, %d versions of one feed, filled in %v\n", o.feeds, o.subscriptions, o.deliveries, o.versions, time.Since(began).Round(time.Second))
	full, err := s.measure(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("| p50 of | empty | full | ratio |\n|---|---:|---:|---:|\n")
	for i, e := range empty {
		ratio := float64(full[i].took) / float64(e.took)
		verdict := ""
		if ratio > target {
			verdict = " (target: 1.5)"
		}
		fmt.Printf("| %s | %v | %v | %.2f%s |\n", e.name, e.took.Round(10*time.Microsecond), full[i].took.Round(10*time.Microsecond), ratio, verdict)
	}
	return nil
}

// Command growth measures whether a full store is slower than an empty one: the start,
// and the median of a publish, a read, and the first page of each list.
//
// Two servers run at the same time, and each request goes to both in turns. In one of the
// stores, SQL multiplies the rows of a feed, a subscription, a version and a delivery that
// the server itself has written.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

type options struct {
	rig.Options
	feeds, subscriptions, deliveries, versions int
	requests, starts                           int
	only                                       string
}

func main() {
	var o options
	flag.IntVar(&o.feeds, "feeds", 100_000, "feeds of the full store")
	flag.IntVar(&o.subscriptions, "subscriptions", 100_000, "subscriptions of the full store, to events that are not published")
	flag.IntVar(&o.deliveries, "deliveries", 10_000_000, "deliveries in the log of one subscription")
	flag.IntVar(&o.versions, "versions", 1000, "versions of one feed")
	flag.IntVar(&o.requests, "requests", 301, "requests of each kind to each server")
	flag.IntVar(&o.starts, "starts", 11, "starts of each server")
	flag.StringVar(&o.only, "only", "", "only the rows whose name contains this")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) })
}

// target is how many times longer a full store may take.
const target = 1.5

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	var samples [2]*sample // of the empty store and of the full one
	for i := range samples {
		mill, err := r.Start(ctx, r.Feedmill)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, mill.Close()) }()
		if samples[i], err = newSample(ctx, mill); err != nil {
			return err
		}
		defer samples[i].sink.Stop()
	}
	empty, full := samples[0], samples[1]
	began := time.Now()
	for _, s := range samples {
		if err := prepare(ctx, s, o, s == full); err != nil {
			return fmt.Errorf("prepare the stores: %w", err)
		}
	}
	for _, s := range samples { // a start is followed by work in the background
		if _, err := s.mill.Rested(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("%d feeds, %d subscriptions, %d deliveries, %d versions of one feed, filled in %v\n", o.feeds, o.subscriptions, o.deliveries, o.versions, time.Since(began).Round(time.Second))
	fmt.Printf("| p50 of | empty | full | ratio |\n|---|---:|---:|---:|\n")
	of := full.requests()
	for i, request := range empty.requests() {
		if !strings.Contains(request.name, o.only) {
			continue
		}
		if err := inTurns(ctx, o.requests, request, of[i]); err != nil {
			return err
		}
	}
	if !strings.Contains("start", o.only) {
		return nil
	}
	return inTurns(ctx, o.starts, empty.start(), full.start())
}

// prepare fills the store if it is the full one, and restarts its server.
func prepare(ctx context.Context, s *sample, o options, full bool) error {
	s.mill.Stop()
	db, err := openStore(s)
	if err != nil {
		return err
	}
	if full {
		err = db.fill(ctx, s, o)
	}
	if err == nil {
		err = db.settle(ctx)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return s.mill.Restart()
}

// inTurns sends a request to both stores in turns and prints the medians.
func inTurns(ctx context.Context, times int, requests ...request) error {
	took := make([][]time.Duration, len(requests))
	for turn := range times + 1 {
		for i, r := range requests {
			if r.before != nil {
				r.before()
			}
			began := time.Now()
			if err := r.do(ctx); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if turn > 0 { // the first one opens files and connections
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	empty, full := rig.Median(took[0]), rig.Median(took[1])
	verdict, ratio := "", float64(full)/float64(empty)
	if ratio > target {
		verdict = fmt.Sprintf(" (target: %.1f)", target)
	}
	fmt.Printf("| %s | %v | %v | %.2f%s |\n", requests[0].name, empty.Round(10*time.Microsecond), full.Round(10*time.Microsecond), ratio, verdict)
	return nil
}

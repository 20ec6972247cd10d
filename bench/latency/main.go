// Command latency measures how long an event takes from the publisher's send to
// the subscriber's receipt, at a modest rate, against a bare POST of the same
// payload to the same endpoint at the same rate.
//
// Both sides take turns. The sender writes the time into the payload and the
// sink, a process of its own on the same machine, reads it.
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
	events int
	rounds int
	rate   float64
}

func main() {
	var o options
	flag.IntVar(&o.events, "events", 500, "events of each side in a round")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds; the median counts")
	flag.Float64Var(&o.rate, "rate", 50, "events a second")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) })
}

const (
	// warmUp is how many events of each side go before those that count.
	warmUp = 50
	// How many times as long as a bare POST it may take.
	wantedSQLite, wantedPostgres = 3.5, 6.0
)

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	s, err := rig.StartSink()
	if err != nil {
		return err
	}
	defer s.Stop()
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	if err := mill.Subscribe(ctx, s, rig.Timed, 1); err != nil {
		return err
	}
	for _, send := range []func(context.Context) error{s.PostStamped, mill.PublishStamped} {
		if _, err := s.Latencies(ctx, warmUp, o.rate, send); err != nil {
			return err
		}
	}
	var p50s, p99s []float64
	for range o.rounds {
		raw, err := s.Latencies(ctx, o.events, o.rate, s.PostStamped)
		if err != nil {
			return err
		}
		milled, err := s.Latencies(ctx, o.events, o.rate, mill.PublishStamped)
		if err != nil {
			return err
		}
		p50s = append(p50s, compare("p50", milled, raw, 50))
		p99s = append(p99s, compare("p99", milled, raw, 99))
	}
	wanted := wantedSQLite
	if r.Store == "postgres" {
		wanted = wantedPostgres
	}
	fmt.Printf("p50 median %.1f times the raw POST's (wanted: at most %.1f)\n", rig.Median(p50s), wanted)
	fmt.Printf("p99 median %.1f times the raw POST's (wanted: at most %.1f)\n", rig.Median(p99s), wanted)
	return nil
}

// compare prints a percentile of both sides and returns their ratio.
func compare(name string, milled, raw []time.Duration, p float64) float64 {
	a, b := rig.Percentile(milled, p), rig.Percentile(raw, p)
	ratio := float64(a) / float64(b)
	fmt.Printf("  %s %v against %v: %.1f\n", name, a.Round(time.Microsecond), b.Round(time.Microsecond), ratio)
	return ratio
}

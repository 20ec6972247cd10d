// Command neighbours measures what endpoints that hang or fail cost those that
// do not: the time from the publisher's send to the receipt of the healthy
// ones, beside bad ones and without them.
//
// Every event goes to 80 healthy endpoints, and in half of the rounds to 10 that
// never answer and 10 that answer 500 besides, all in one workspace, so that
// nothing but the fairness between subscriptions protects the healthy. Each round
// has a Feedmill and a store of its own: what the bad ones have left to be tried
// again would disturb the rounds without them.
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
	seconds int
	rounds  int
	rate    float64
	// restart is how many endpoints hang beside the healthy ones of a restart.
	restart int
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", 30, "how long a round publishes; a hanging attempt takes 15 s")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds with and without the bad ones; the median counts")
	flag.Float64Var(&o.rate, "rate", 20, "events a second, each to every endpoint")
	flag.IntVar(&o.restart, "restart", 0, "measure a restart beside so many endpoints that hang instead")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error {
		if o.restart > 0 {
			return restart(ctx, r, o.restart)
		}
		return run(ctx, r, o)
	})
}

const (
	healthy, hanging, failing = 80, 10, 10
	// warmUp is how many events go before those that count.
	warmUp = 20
	wanted = 1.5
)

func run(ctx context.Context, r *rig.Rig, o options) error {
	var p50s, p99s []float64
	for range o.rounds {
		alone, err := round(ctx, r, o, false)
		if err != nil {
			return err
		}
		beside, err := round(ctx, r, o, true)
		if err != nil {
			return err
		}
		p50s = append(p50s, compare("p50", beside, alone, 50))
		p99s = append(p99s, compare("p99", beside, alone, 99))
	}
	fmt.Printf("p50 median %.2f times that without the bad ones\n", rig.Median(p50s))
	fmt.Printf("p99 median %.2f times that without the bad ones (wanted: at most %.1f)\n", rig.Median(p99s), wanted)
	return nil
}

// round publishes at a rate and returns how long each event took to each of the
// healthy endpoints.
func round(ctx context.Context, r *rig.Rig, o options, beside bool) (times []time.Duration, err error) {
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	s, err := rig.StartSink()
	if err != nil {
		return nil, err
	}
	defer s.Stop() // before the Feedmill, whose attempts that hang end by it
	if beside {
		// They come first, wherever the order of subscriptions counts.
		err := errors.Join(mill.Subscribe(ctx, s, rig.Hanging, hanging), mill.Subscribe(ctx, s, rig.Failing, failing))
		if err != nil {
			return nil, err
		}
	}
	if err := mill.Subscribe(ctx, s, rig.Timed, healthy); err != nil {
		return nil, err
	}
	sent := 0
	for _, n := range []int{warmUp, int(float64(o.seconds) * o.rate)} {
		if err := rig.Pace(ctx, n, o.rate, mill.PublishStamped); err != nil {
			return nil, err
		}
		sent += n
		if err := s.WaitFor(ctx, sent*healthy, nil); err != nil {
			return nil, err
		}
		if times, err = s.Times(ctx); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// compare prints a percentile of both sides and returns their ratio.
func compare(name string, beside, alone []time.Duration, p float64) float64 {
	a, b := rig.Percentile(beside, p), rig.Percentile(alone, p)
	ratio := float64(a) / float64(b)
	fmt.Printf("  %s of %d receipts %v against %v: %.2f\n", name, len(beside), a.Round(time.Microsecond), b.Round(time.Microsecond), ratio)
	return ratio
}

// Command attack measures what a hostile workspace costs another: the time of an
// upload, a read, a query and a publish of a quiet workspace, alone and beside
// attacks of one with an ordinary key. And it measures how soon the work of the
// attackers is gone when they are.
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
	rate    float64
	memory  string
	only    string
	each    bool
}

func main() {
	var o options
	flag.IntVar(&o.seconds, "seconds", 20, "how long each part of the run takes")
	flag.Float64Var(&o.rate, "rate", 5, "how many times a second the quiet workspace does everything once")
	flag.StringVar(&o.memory, "memory", "", "what GOMEMLIMIT says to the server, empty for what it finds out")
	flag.StringVar(&o.only, "only", "", "only the attacks whose names hold one of these, separated by commas")
	flag.BoolVar(&o.each, "each", false, "then each of the attacks alone, too")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, rig.Role{Name: asHostile, Run: beHostile})
}

const (
	// wanted is how many times longer the quiet workspace may wait, and goneWithin
	// how long the work of attackers may go on without them.
	wanted     = 5.0
	goneWithin = 2 * time.Second
)

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	var env []string
	if o.memory != "" {
		env = append(env, "GOMEMLIMIT="+o.memory)
	}
	mill, err := r.Start(ctx, r.Feedmill, env...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	hostile, err := newHostile(ctx, mill)
	if err != nil {
		return err
	}
	quiet := &workspace{url: mill.URL, key: mill.Key}
	if quiet.feed, err = quiet.upload(ctx, `[{"a":1},{"a":2}]`); err != nil {
		return err
	}
	if _, err := quiet.days(ctx, o.rate, time.Second); err != nil { // warm up
		return err
	}
	length := time.Duration(o.seconds) * time.Second
	alone, err := quiet.days(ctx, o.rate, length)
	if err != nil {
		return err
	}
	rounds := []string{o.only}
	for _, a := range attacks(hostile.feed) {
		if o.each && rig.Chosen(o.only, a.name) {
			rounds = append(rounds, a.name)
		}
	}
	for _, only := range rounds {
		if err := measure(ctx, mill, hostile, only, alone, func() (*taken, error) { return quiet.days(ctx, o.rate, length) }); err != nil {
			return err
		}
	}
	fmt.Printf("wanted: p99 of all at most %.0f times, and the attackers' work gone within %v\n", wanted, goneWithin)
	return nil
}

// measure prints how a quiet workspace does beside attacks, and how long they
// outlive the attackers.
func measure(ctx context.Context, mill *rig.Mill, hostile *workspace, only string, alone *taken, live func() (*taken, error)) error {
	peer, err := hostile.attackBeside(only)
	if err != nil {
		return err
	}
	before := mill.CPUTime()
	beside, err := live()
	used := mill.CPUTime() - before
	peer.Stop()
	if err != nil {
		return fmt.Errorf("beside the attacks: %w", err)
	}
	gone, err := mill.Rested(ctx)
	if err != nil {
		return err
	}
	name := only
	if name == "" {
		name = "all attacks"
	}
	fmt.Printf("beside %s (the server used %v of processors, and rested %v after the attackers had gone):\n", name, used.Round(time.Millisecond), gone.Round(time.Millisecond))
	for _, kind := range kinds {
		compare("    "+kind, beside.by[kind], alone.by[kind])
	}
	compare("  all", beside.all(), alone.all())
	return nil
}

// compare prints times beside attacks and alone.
func compare(name string, beside, alone []time.Duration) {
	fmt.Printf("%-12s", name)
	for _, p := range []float64{50, 99} {
		a, b := rig.Percentile(beside, p), rig.Percentile(alone, p)
		fmt.Printf("  p%.0f %v, alone %v: %.2f times;", p, a.Round(100*time.Microsecond), b.Round(100*time.Microsecond), float64(a)/float64(b))
	}
	fmt.Printf("  of %d\n", len(beside))
}

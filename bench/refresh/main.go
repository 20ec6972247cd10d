// Command refresh measures what it takes to fetch data from an API: a refresh
// of many pages against the least that such a fetch can be, and what feeds cost
// that have nothing to do.
//
// Feedmill is the real program, and the API that it fetches from is a process of
// its own on the loopback interface, with all of its pages in memory.
//
// The least is the sum of two things that are measured in the same run: asking
// for the same pages one after the other and throwing them away, and making a
// table of their records, which are one file by then, with the packages that
// Feedmill makes it with, in a process that does nothing else. No request to
// Feedmill, no store and no copy of the pages is in it. The file is a JSON
// document of the form that the pages have, and then NDJSON, which takes less
// work to read than any document.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/upstream"
)

type options struct {
	rig.Options
	rounds, rows, pages int
	feeds               int
	idle                time.Duration
	only                string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of the refresh; the median counts")
	flag.IntVar(&o.rows, "rows", 1_000_000, "rows that a refresh brings")
	flag.IntVar(&o.pages, "pages", 1000, "pages that they come in")
	flag.IntVar(&o.feeds, "feeds", 10_000, "feeds that are not due")
	flag.DurationVar(&o.idle, "idle", 20*time.Second, "how long they are watched")
	flag.StringVar(&o.only, "only", "", "only the figures whose names hold one of these, separated by commas: pages, idle")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, upstream.Role, modelRole)
}

// What is wanted: of the refresh as a multiple of the least, and of feeds that
// are not due as a share of one core.
const (
	wantedRatio = 1.4
	wantedShare = 0.01
)

func run(ctx context.Context, r *rig.Rig, o options) error {
	for _, figure := range []struct {
		name    string
		measure func(context.Context, *rig.Rig, options) error
	}{{"pages", pages}, {"idle", idle}} {
		if !rig.Chosen(o.only, figure.name) {
			continue
		}
		if err := figure.measure(ctx, r, o); err != nil {
			return fmt.Errorf("%s: %w", figure.name, err)
		}
	}
	return nil
}

// spent is what something took.
type spent struct{ Wall, CPU time.Duration }

func (s spent) String() string {
	return fmt.Sprintf("%5.2f s, %5.2f s of CPU", s.Wall.Seconds(), s.CPU.Seconds())
}

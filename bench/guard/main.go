// Command guard compares the working tree with an earlier commit, so that a loss of speed is found
// before it is released.
//
// It builds both programs and has them do the same work in turns: uploads, exports, pages, a refresh,
// deliveries. Each row is measured in paired rounds, and the rounds alternate which program goes
// first. A row shows what a unit of work costs, the median of the ratios of the pairs with its 95 %
// interval, and a verdict. The output is a Markdown table.
//
// The cost is CPU time of the server, its workers and its private PostgreSQL server, until they are
// idle again. The clients and sinks are not in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/upstream"
)

type options struct {
	base   string
	rounds int
	quick  bool
	rows   string
}

func main() {
	var o options
	flag.StringVar(&o.base, "base", "", "commit to compare the working tree with; required")
	flag.IntVar(&o.rounds, "rounds", 0, "paired rounds of each row (default 15, with -quick 6)")
	flag.BoolVar(&o.quick, "quick", false, "fewer rounds of less data")
	flag.StringVar(&o.rows, "rows", "", "only rows whose names contain one of these, separated by commas")
	rig.Main(func(ctx context.Context) error {
		flag.Parse()
		return run(ctx, o)
	}, duck.Role, upstream.Role)
}

// amounts is how much work a round is.
type amounts struct {
	rounds int
	// upload and memory are MB of the files that are uploaded.
	upload, memory int64
	// book is the rows of the workbook.
	book int
	// rows is the size of the feed that is read.
	rows int64
	// pages is how many pages a round reads.
	pages int
	// fetched is how many rows a refresh fetches.
	fetched int
	// deliveries and events are those of a round of deliveries and of latency.
	deliveries, events int
}

var (
	full  = amounts{rounds: 15, upload: 80, memory: 150, book: 100_000, rows: 400_000, pages: 60, fetched: 200_000, deliveries: 8000, events: 100}
	quick = amounts{rounds: leastRounds, upload: 40, memory: 50, book: 50_000, rows: 200_000, pages: 30, fetched: 100_000, deliveries: 3000, events: 30}
)

func run(ctx context.Context, o options) (err error) {
	g := &guard{amounts: full}
	if o.quick {
		g.amounts = quick
	}
	if o.rounds != 0 {
		g.rounds = o.rounds
	}
	if o.base == "" {
		return errors.New("-base is required: the commit to compare the working tree with")
	}
	if g.rounds < leastRounds {
		return fmt.Errorf("-rounds must be at least %d, because fewer have no 95 %% interval; got %d", leastRounds, g.rounds)
	}
	chosen := chosenFigures(o.rows)
	if len(chosen) == 0 {
		return fmt.Errorf("-rows %s matches no row; the groups are %s", o.rows, strings.Join(groups, ", "))
	}
	began := time.Now()
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.prepare(ctx, o.base, chosen); err != nil {
		return err
	}
	printHeader(os.Stdout)
	var results []result
	for _, f := range chosen {
		rows, err := g.compare(ctx, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for _, r := range rows {
			r.print(os.Stdout)
		}
		results = append(results, rows...)
	}
	printSummary(os.Stdout, results, g.rounds, time.Since(began))
	return nil
}

// Command deliver measures how fast events go from a publisher's request to
// their subscribers' endpoints, durably and with the delivery log, as a share
// of what a bare HTTP client can POST on the same cores.
//
// Feedmill, the sink and the raw client are processes of their own on the
// loopback interface. R, the raw ceiling, is a tuned net/http client with 64
// workers that POSTs signed payloads of 1 KB to the same sink and stores
// nothing; it is measured before and after every figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

type options struct {
	rig.Options
	deliveries int
	publishers int
	rounds     int
	only       string
	sustained  bool
	slow       bool
	tls        bool
	ordered    bool
	former     string
	// resources is how many those events are of, zero where each is of another.
	resources int
	huge      bool
	// subscriptions is how many hear of the events of -huge.
	subscriptions int
}

func main() {
	var o options
	o.Flags()
	flag.IntVar(&o.deliveries, "events", 50_000, "deliveries in a round")
	flag.IntVar(&o.publishers, "publishers", 0, "connections that publish at once, each waiting for its answers; 0 means as many as each figure has")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.StringVar(&o.only, "only", "", "only the figures whose name holds this")
	flag.BoolVar(&o.sustained, "sustained", false, "one round of 200,000 deliveries, and the memory after each tenth of them")
	flag.BoolVar(&o.slow, "slow", false, "measure again with 2 ms added to every commit")
	flag.BoolVar(&o.tls, "tls", false, "measure again over TLS, with R measured over TLS too")
	flag.StringVar(&o.former, "former", "", "a program of a former release, to be measured in turns with this one")
	flag.BoolVar(&o.ordered, "ordered", false, "measure a backlog of an ordered subscription instead")
	flag.IntVar(&o.resources, "resources", 0, "how many resources the events of -ordered are of; 0 means each of another")
	flag.BoolVar(&o.huge, "huge", false, "measure one request of 20 events that -subscriptions hear of instead")
	flag.IntVar(&o.subscriptions, "subscriptions", 100_000, "how many hear of the events of -huge")
	rig.Main(func(ctx context.Context) error {
		flag.Parse()
		return run(ctx, o)
	})
}

// figure is one thing to measure.
type figure struct {
	name string
	rig.Publication
	// share of R that it should reach on SQLite and on PostgreSQL. On SQLite it
	// is what a former release had on another machine; measured in turns with
	// that release, by -former, it should be no slower.
	sqlite, postgres float64
}

var figures = []figure{
	// Each publisher waits for its commit before it sends again, and with one
	// event a request that is what most of its time goes by with.
	{"one event a request", rig.Publication{Batch: 1, Subscribers: 1, Publishers: 256}, 0.32, 0.27},
	{"100 events a request", rig.Publication{Batch: 100, Subscribers: 1, Publishers: 64}, 0.76, 0.52},
	{"one event to 1,000 subscriptions", rig.Publication{Batch: 1, Subscribers: 1000, Publishers: 64}, 0.94, 0.75},
}

// What is wanted of a sustained round, of slow commits and over TLS.
const (
	sustainedDeliveries = 200_000
	wantedMemory        = 250 // MB
	wantedSlow          = 0.8
	wantedTLS           = 0.85
)

// variant is a program to measure, in one of the ways.
type variant struct {
	name, program string
	tls           bool
	// former says that it is of a former release, and the figure is to be held
	// against it.
	former bool
	// wanted is the part of the figure's share that it should reach.
	wanted float64
	shares []float64
	peak   int
}

func run(ctx context.Context, o options) (err error) {
	if o.sustained {
		o.deliveries, o.rounds = sustainedDeliveries, 1
	}
	r, err := rig.New(ctx, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if o.ordered {
		return measureOrdered(ctx, r, o)
	}
	if o.huge {
		return measureHuge(ctx, r, o)
	}
	slow := ""
	if o.slow {
		if slow, err = r.Build(ctx, "feedmill-slowcommit", "slowcommit"); err != nil {
			return err
		}
	}
	for _, f := range figures {
		if !strings.Contains(f.name, o.only) {
			continue
		}
		if o.publishers > 0 {
			f.Publishers = o.publishers
		}
		variants := []*variant{{name: f.name, program: r.Feedmill}}
		if o.slow {
			variants = append(variants, &variant{name: f.name + ", slow", program: slow, wanted: wantedSlow})
		}
		if o.tls {
			variants = append(variants, &variant{name: f.name + ", TLS", program: r.Feedmill, tls: true, wanted: wantedTLS})
		}
		if o.former != "" {
			variants = append(variants, &variant{name: f.name + ", former", program: o.former, former: true})
		}
		for range o.rounds {
			for _, v := range variants {
				result, err := measure(ctx, r, v, f, o.deliveries)
				if err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
				result.print(v.name, o.sustained)
				v.shares = append(v.shares, result.share())
				v.peak = max(v.peak, result.peak)
			}
		}
		conclude(f, r.Store, variants)
	}
	return nil
}

// conclude prints the medians of a figure.
func conclude(f figure, store string, variants []*variant) {
	wanted := f.sqlite
	if store == "postgres" {
		wanted = f.postgres
	}
	share := rig.Median(variants[0].shares)
	fmt.Printf("%-40s median %.2f R (wanted: at least %.2f), peak %d MB\n", f.name, share, wanted, variants[0].peak>>20)
	for _, v := range variants[1:] {
		own := rig.Median(v.shares)
		if v.former {
			fmt.Printf("%-40s median %.2f R, the figure is %.2f of it (wanted: at least 1), peak %d MB\n", v.name, own, share/own, v.peak>>20)
			continue
		}
		fmt.Printf("%-40s median %.2f R, %.2f of the figure (wanted: at least %.2f), peak %d MB\n", v.name, own, own/share, v.wanted, v.peak>>20)
	}
}

// Command deliver measures how fast events go from a publisher's request to
// their subscribers' endpoints, durably and with the delivery log, as a share
// of what a bare HTTP client can POST on the same two cores.
//
// Feedmill, the sink and the raw client are processes of their own on the
// loopback interface. R, the raw ceiling, is a tuned net/http client with 64
// workers that POSTs signed payloads of 1 KB to the same sink and stores
// nothing; it is measured before and after every figure.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type options struct {
	feedmill string
	database string
	events   int
	rounds   int
	only     string
}

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "sink":
			exit(runSink())
		case "raw":
			exit(runRaw(os.Args[2]))
		}
	}
	var o options
	flag.StringVar(&o.feedmill, "feedmill", "", "the program to measure; built from this tree where empty")
	flag.StringVar(&o.database, "database", "", "postgres://… measures on PostgreSQL; SQLite where empty")
	flag.IntVar(&o.events, "events", 50_000, "events in a round")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.StringVar(&o.only, "only", "", "only the figures whose name holds this")
	flag.Parse()
	exit(run(context.Background(), o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "deliver:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// figure is one thing to measure.
type figure struct {
	name string
	// batch is how many events a request publishes, subscribers how many
	// subscriptions each event matches.
	batch, subscribers int
	// share of R that it should reach on SQLite and on PostgreSQL.
	sqlite, postgres float64
}

var figures = []figure{
	{"one event a request", 1, 1, 0.30, 0.20},
	{"100 events a request", 100, 1, 0.60, 0.40},
	{"one event to 1,000 subscriptions", 1, 1000, 0.60, 0.40},
}

func run(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "feedmill-deliver-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if o.feedmill == "" {
		o.feedmill = filepath.Join(folder, "feedmill")
		build := exec.Command("go", "build", "-o", o.feedmill, "./cmd/feedmill")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building feedmill: %w", err)
		}
	}
	sync, err := fsyncTime(folder)
	if err != nil {
		return err
	}
	engine := cmp.Or(strings.SplitN(o.database, ":", 2)[0], "sqlite")
	fmt.Printf("store %s, fsync %v\n", engine, sync)
	for _, f := range figures {
		if !strings.Contains(f.name, o.only) {
			continue
		}
		target := f.sqlite
		if o.database != "" {
			target = f.postgres
		}
		var shares []float64
		for round := range o.rounds {
			share, err := measure(ctx, o, f, filepath.Join(folder, fmt.Sprint(f.batch, "-", f.subscribers, "-", round)))
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			shares = append(shares, share)
		}
		slices.Sort(shares)
		fmt.Printf("%-34s median %.2f R (wanted: at least %.2f)\n", f.name, shares[len(shares)/2], target)
	}
	return nil
}

// measure makes one round of a figure and answers its share of R.
func measure(ctx context.Context, o options, f figure, folder string) (float64, error) {
	s, err := startSink()
	if err != nil {
		return 0, err
	}
	defer s.stop()
	before, err := rawCeiling(s)
	if err != nil {
		return 0, err
	}
	mill, err := startFeedmill(ctx, o, folder)
	if err != nil {
		return 0, err
	}
	defer mill.stop()
	if err := mill.subscribe(ctx, s.url, f.subscribers); err != nil {
		return 0, err
	}
	start, err := s.count()
	if err != nil {
		return 0, err
	}
	events := max(o.events/f.subscribers, 1)
	deliveries := float64(events * f.subscribers)
	used := cpuTime(os.Getpid(), s.pid(), mill.pid())
	began := time.Now()
	if err := mill.publish(ctx, events, f.batch); err != nil {
		return 0, err
	}
	accepted := time.Since(began)
	if err := s.waitFor(start + events*f.subscribers); err != nil {
		return 0, err
	}
	took := time.Since(began)
	used = cpuTime(os.Getpid(), s.pid(), mill.pid()) - used
	memory := mill.peakMemory()
	mill.stop()
	after, err := rawCeiling(s)
	if err != nil {
		return 0, err
	}
	r := (before.rate + after.rate) / 2
	rate := deliveries / took.Seconds()
	fmt.Printf("  %-32s %7.0f/s delivered, accepted in %v of %v, R %.0f/s, peak %d MB: %.2f R (CPU %.0f µs against %.0f: %.2f)\n",
		f.name, rate, accepted.Round(time.Millisecond), took.Round(time.Millisecond), r, memory>>20, rate/r,
		used.Seconds()/deliveries*1e6, before.cpu.Seconds()*1e6, before.cpu.Seconds()*deliveries/used.Seconds())
	return rate / r, nil
}

// fsyncTime is the median time of writing and syncing a small file's page.
func fsyncTime(folder string) (time.Duration, error) {
	f, err := os.Create(filepath.Join(folder, "fsync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var times []time.Duration
	for range 101 {
		start := time.Now()
		if _, err := f.WriteAt(make([]byte, 4096), 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[50], nil
}

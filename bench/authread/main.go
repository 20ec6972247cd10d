// Command authread measures what an authenticated read costs: GET /keys,
// against a bare net/http handler that writes the same bytes.
//
// Both servers run as processes of their own on the loopback interface; the
// requests come over connections that are kept open. What counts is the CPU time
// of the server's process alone, user and system, so that neither the client nor
// a busy machine is part of it. Rounds of the two alternate, and the medians
// count.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// options are what can be asked of a run.
type options struct {
	rig.Options
	limit       int
	rounds      int
	requests    int
	connections int
}

func main() {
	var o options
	flag.IntVar(&o.limit, "limit", 1, "keys in an answer")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each server")
	flag.IntVar(&o.requests, "requests", 50_000, "requests in a round")
	flag.IntVar(&o.connections, "connections", 4, "connections that are kept open")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, bareRole)
}

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	// The log is on as users have it, and goes nowhere.
	if r.Log, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return err
	}
	defer r.Log.Close()
	mill, err := r.Start(ctx, r.Feedmill, "FEEDMILL_LOG_LEVEL=info")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	feedmill := server{mill.URL, mill.Admin, mill.CPUTime}
	path, body, err := feedmill.prepare(ctx, o.limit)
	if err != nil {
		return err
	}
	file := filepath.Join(r.Folder(), "body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return err
	}
	peer, err := rig.StartRole(bareRole.Name, file)
	if err != nil {
		return err
	}
	defer peer.Stop()

	fmt.Printf("GET %s: %d bytes, %d connections, %d requests a round\n\n", path, len(body), o.connections, o.requests)
	fmt.Printf("%-8s %24s %24s %8s\n", "", "feedmill, CPU µs/request", "bare, CPU µs/request", "ratio")
	servers := []server{feedmill, {peer.Said, mill.Admin, peer.CPUTime}}
	for _, s := range servers { // the first requests fill caches and pools
		if _, err := s.measure(path, len(body), o.requests/10, o.connections); err != nil {
			return err
		}
	}
	var costs [2][]time.Duration
	var ratios []float64
	for round := range o.rounds {
		for i, s := range servers {
			cost, err := s.measure(path, len(body), o.requests, o.connections)
			if err != nil {
				return err
			}
			costs[i] = append(costs[i], cost)
		}
		ratios = append(ratios, float64(costs[0][round])/float64(costs[1][round]))
		row(fmt.Sprint("round ", round+1), costs[0][round], costs[1][round], ratios[round])
	}
	row("median", rig.Median(costs[0]), rig.Median(costs[1]), rig.Median(ratios))
	return nil
}

func row(name string, feedmill, bare time.Duration, ratio float64) {
	fmt.Printf("%-8s %24.1f %24.1f %8.2f\n", name, micros(feedmill), micros(bare), ratio)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

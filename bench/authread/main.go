// Command authread measures what an authenticated read costs: GET /keys on the
// embedded store, against a bare net/http handler that writes the same bytes.
//
// Both servers run as processes of their own, this program again, on the
// loopback interface; the requests come over connections that are kept open.
// What counts is the CPU time of the server's process alone, user and system,
// so that neither the client nor a busy machine is part of it. Rounds of the
// two alternate, and the medians count.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

// options are what can be asked of a run.
type options struct {
	limit       int
	rounds      int
	requests    int
	connections int
	profile     string
	log         string
}

func main() {
	if role := os.Getenv(roleEnv); role != "" {
		exit(serveAs(role))
	}
	var o options
	flag.IntVar(&o.limit, "limit", 1, "keys in an answer")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each server")
	flag.IntVar(&o.requests, "requests", 20_000, "requests in a round")
	flag.IntVar(&o.connections, "connections", 4, "connections that are kept open")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of feedmill's process to this file")
	flag.StringVar(&o.log, "log", os.DevNull, "where feedmill's log goes; its level is info")
	flag.Parse()
	exit(run(o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "authread:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(o options) error {
	folder, err := os.MkdirTemp("", "authread")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	feedmill, err := startFeedmill(o, folder)
	if err != nil {
		return err
	}
	defer feedmill.end()
	path, body, err := prepare(feedmill.url, o.limit)
	if err != nil {
		return err
	}
	bare, err := startBare(folder, body)
	if err != nil {
		return err
	}
	defer bare.end()

	fmt.Printf("GET %s: %d bytes, %d connections, %d requests a round\n\n", path, len(body), o.connections, o.requests)
	fmt.Printf("%-8s %24s %24s %8s\n", "", "feedmill, CPU µs/request", "bare, CPU µs/request", "ratio")
	servers := []*server{feedmill, bare}
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
	row("median", median(costs[0]), median(costs[1]), median(ratios))
	return nil
}

func row(name string, feedmill, bare time.Duration, ratio float64) {
	fmt.Printf("%-8s %24.1f %24.1f %8.2f\n", name, micros(feedmill), micros(bare), ratio)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func median[T cmp.Ordered](values []T) T {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// What a request whose events very many subscriptions hear of may cost: how many
// times as long as one that nobody hears of, and how many times as long another
// workspace's publisher waits for its answers meanwhile.
const (
	hugeEvents         = 20
	wantedHugeAccepted = 5.0
	wantedHugeBeside   = 2.0
	// quietRequests are how many requests make a time without a match, and besideRate
	// and besideEvents how many the other publisher makes a second and in all, at
	// least, of which a percentile is taken.
	quietRequests = 21
	besideRate    = 50
	besideEvents  = 1000
)

// measureHuge publishes one request of events that all subscriptions of a workspace
// hear of, and measures what it costs the publisher, and another one in the time that
// its deliveries take.
func measureHuge(ctx context.Context, r *rig.Rig, o options) (err error) {
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	s, err := rig.StartSink()
	if err != nil {
		return err
	}
	defer s.Stop()
	timed, err := rig.StartSink()
	if err != nil {
		return err
	}
	defer timed.Stop()
	other, err := mill.Beside(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(mill.Subscribe(ctx, s, rig.Counted, o.subscriptions), other.Subscribe(ctx, timed, rig.Timed, 1)); err != nil {
		return err
	}
	fmt.Printf("  %d subscriptions to which nothing was sent yet\n", o.subscriptions)

	var quiet, busy waits
	for range 2 { // the first warms up
		quiet = waits{}
		if err := quiet.publish(ctx, other, timed, besideEvents); err != nil {
			return err
		}
	}

	// Right before the request that is heard of, so that neither is the first after a pause.
	var unheard []time.Duration
	for range quietRequests {
		took, err := publishHuge(ctx, mill, "tag.created")
		if err != nil {
			return err
		}
		unheard = append(unheard, took)
	}
	heard, err := publishHuge(ctx, mill, "metric.created")
	if err != nil {
		return err
	}
	began, total := time.Now(), hugeEvents*o.subscriptions
	var memory []int
	arrived := make(chan error, 1)
	go func() {
		arrived <- s.WaitFor(ctx, total, func(got int) {
			for got >= total*(len(memory)+1)/10 && len(memory) < 10 {
				now, _ := mill.Memory()
				memory = append(memory, now>>20)
			}
		})
	}()
	for waiting := true; waiting; {
		if err := busy.publish(ctx, other, timed, besideRate); err != nil {
			return err
		}
		select {
		case err := <-arrived:
			if err != nil {
				return err
			}
			waiting = false
		default:
		}
	}
	took := time.Since(began)
	_, peak := mill.Memory()
	fmt.Printf("  %d deliveries in %v, %.0f/s; resident after each tenth, MB: %v\n", total, took.Round(time.Second), float64(total)/took.Seconds(), memory)
	fmt.Printf("%-40s %v against %v, %.1f times (wanted: at most %.1f)\n", "accepted, and without a match", heard.Round(time.Microsecond),
		rig.Median(unheard).Round(time.Microsecond), float64(heard)/float64(rig.Median(unheard)), wantedHugeAccepted)
	compareWaits("another publisher's answers", busy.answers, quiet.answers)
	compareWaits("and its receipts", busy.receipts, quiet.receipts)
	fmt.Printf("%-40s %d MB (wanted: under %d)\n", "peak", peak>>20, wantedMemory)
	return nil
}

func compareWaits(name string, busy, quiet []time.Duration) {
	fmt.Printf("  %s, p50: %v against %v\n", name, rig.Percentile(busy, 50).Round(time.Microsecond), rig.Percentile(quiet, 50).Round(time.Microsecond))
	a, b := rig.Percentile(busy, 99), rig.Percentile(quiet, 99)
	fmt.Printf("%-40s %v against %v, %.2f times (wanted: at most %.1f)\n", name+", p99", a.Round(time.Microsecond), b.Round(time.Microsecond), float64(a)/float64(b), wantedHugeBeside)
}

// publishHuge publishes events of a type in one request and returns how long the
// answer took.
func publishHuge(ctx context.Context, m *rig.Mill, kind string) (time.Duration, error) {
	events := make([]client.NewEvent, hugeEvents)
	for i := range events {
		events[i] = client.NewEvent{Type: kind, ResourceID: "x_1", Data: map[string]string{"text": "x"}}
	}
	began := time.Now()
	_, err := client.New(m.URL, m.Key).PublishAll(ctx, events)
	return time.Since(began), err
}

// waits are how long a publisher waited for its answers, and its subscriber for the
// events.
type waits struct{ answers, receipts []time.Duration }

// publish publishes n events at the rate of the other publisher, and adds how long
// they took.
func (w *waits) publish(ctx context.Context, m *rig.Mill, s *rig.Sink, n int) error {
	before, err := s.Count(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	err = rig.Pace(ctx, n, besideRate, func(ctx context.Context) error {
		began := time.Now()
		err := m.PublishStamped(ctx)
		mu.Lock()
		defer mu.Unlock()
		w.answers = append(w.answers, time.Since(began))
		return err
	})
	if err != nil {
		return err
	}
	if err := s.WaitFor(ctx, before+n, nil); err != nil {
		return err
	}
	times, err := s.Times(ctx)
	w.receipts = append(w.receipts, times...)
	return err
}

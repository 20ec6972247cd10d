package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// result is what one round of a figure has measured.
type result struct {
	deliveries int
	// accepted is when the last request was answered, took when the last
	// payload had arrived.
	accepted, took time.Duration
	// cpu is the time of the processors, of Feedmill, its database, the
	// publisher and the sink together.
	cpu time.Duration
	// parts is the same, by what the processes are.
	parts         rig.Parts
	before, after rig.Ceiling
	// memory is the resident size after each tenth of the deliveries, and
	// peak the largest, in bytes.
	memory []int
	peak   int
}

// measure makes one round of a figure.
func measure(ctx context.Context, r *rig.Rig, v *variant, f figure, deliveries int) (res result, err error) {
	start := rig.StartSink
	if v.tls {
		start = r.StartTLSSink
	}
	s, err := start()
	if err != nil {
		return res, err
	}
	defer s.Stop()
	if res.before, err = s.Ceiling(ctx); err != nil {
		return res, err
	}
	if err := deliver(ctx, r, v.program, f, deliveries, s, &res); err != nil {
		return res, err
	}
	res.after, err = s.Ceiling(ctx)
	return res, err
}

// deliver publishes what makes as many deliveries, by a Feedmill that runs for
// that alone, and waits until they have arrived.
func deliver(ctx context.Context, r *rig.Rig, program string, f figure, deliveries int, s *rig.Sink, res *result) (err error) {
	mill, err := r.Start(ctx, program, s.Trusted()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	if err := mill.Subscribe(ctx, s, rig.Counted, f.Subscribers); err != nil {
		return err
	}
	_, total := f.Requests(deliveries)
	parts := rig.CPUParts()
	began := time.Now()
	res.deliveries, res.accepted, err = mill.Deliver(ctx, s, f.Publication, deliveries, func(got int) {
		for got >= total*(len(res.memory)+1)/10 && len(res.memory) < 10 {
			now, _ := mill.Memory()
			res.memory = append(res.memory, now)
		}
	})
	res.took = time.Since(began)
	res.parts = rig.CPUParts().Since(parts)
	res.cpu = res.parts.Sum()
	_, res.peak = mill.Memory()
	return err
}

func (r result) rate() float64 { return float64(r.deliveries) / r.took.Seconds() }

// share is the rate as a share of R.
func (r result) share() float64 { return r.rate() / r.ceiling() }

func (r result) ceiling() float64 { return (r.before.Rate + r.after.Rate) / 2 }

func (r result) print(name string, sustained bool) {
	cpu := r.cpu.Seconds() / float64(r.deliveries)
	raw := (r.before.CPU + r.after.CPU).Seconds() / 2
	fmt.Printf("  %-38s %7.0f/s delivered, accepted in %v of %v, R %.0f/s, peak %d MB: %.2f R (CPU %.0f µs against %.0f: %.2f)\n",
		name, r.rate(), r.accepted.Round(time.Millisecond), r.took.Round(time.Millisecond), r.ceiling(), r.peak>>20, r.share(),
		cpu*1e6, raw*1e6, raw/cpu)
	fmt.Printf("  %-38s µs of CPU: %s\n", name, r.parts.Each(r.deliveries))
	if !sustained {
		return
	}
	fmt.Printf("  %-38s resident after each tenth of %d deliveries, MB:", name, r.deliveries)
	for _, size := range r.memory {
		fmt.Printf(" %d", size>>20)
	}
	fmt.Printf(", peak %d (wanted: under %d)\n", r.peak>>20, wantedMemory)
}

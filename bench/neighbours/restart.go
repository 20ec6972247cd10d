package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

const (
	// restartEvents is how many events are published before and after a restart, one each
	// restartStep.
	restartEvents = 3
	restartStep   = 2 * time.Second
	// attemptTime is how long an attempt to an endpoint that hangs takes, and a moment.
	attemptTime = 17 * time.Second
	// targetRestart is the maximum wait of healthy endpoints.
	targetRestart = 3 * time.Second
)

// restart measures how long events take to healthy endpoints right after a restart, beside
// many endpoints that hang and have a backlog.
func restart(ctx context.Context, r *rig.Rig, hanging int) (err error) {
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
	sent := 0
	publish := func() ([]time.Duration, error) {
		if err := rig.Pace(ctx, restartEvents, float64(time.Second)/float64(restartStep), mill.PublishStamped); err != nil {
			return nil, err
		}
		sent += restartEvents
		if err := s.WaitFor(ctx, sent*healthy, nil); err != nil {
			return nil, err
		}
		return s.Times(ctx)
	}
	// Beside endpoints that hang, an endpoint that is not known to be healthy waits for its turn.
	for _, kind := range []struct {
		name string
		n    int
	}{{rig.Timed, healthy}, {rig.Hanging, hanging}} {
		if err := mill.Subscribe(ctx, s, kind.name, kind.n); err != nil {
			return err
		}
		if _, err := publish(); err != nil {
			return err
		}
	}
	time.Sleep(attemptTime) // so that the store knows of failures
	mill.Stop()
	if err := mill.Restart(); err != nil {
		return err
	}
	times, err := publish()
	if err != nil {
		return err
	}
	fmt.Printf("after a restart beside %d that hang: p50 %v, p99 %v, maximum %v (target: %v)\n", hanging,
		rig.Percentile(times, 50).Round(time.Millisecond), rig.Percentile(times, 99).Round(time.Millisecond), rig.Percentile(times, 100).Round(time.Millisecond), targetRestart)
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// wantedOrdered is the part of the rate of an unordered backlog that an ordered
// one should be delivered at.
const wantedOrdered = 0.5

// measureOrdered measures how fast a backlog is delivered whose events are all of
// different resources, with a subscription that is ordered and one that is not.
func measureOrdered(ctx context.Context, r *rig.Rig, o options) error {
	var rates [2][]float64
	for range o.rounds {
		for i, ordered := range []bool{false, true} {
			rate, peak, err := drain(ctx, r, ordered, o.deliveries)
			if err != nil {
				return err
			}
			fmt.Printf("  backlog of %d resources, ordered %-5v %7.0f/s delivered, peak %d MB\n", o.deliveries, ordered, rate, peak>>20)
			rates[i] = append(rates[i], rate)
		}
	}
	share := rig.Median(rates[1]) / rig.Median(rates[0])
	fmt.Printf("%-40s median %.2f of the unordered rate (wanted: at least %.2f)\n", "ordered backlog", share, wantedOrdered)
	return nil
}

// drain accepts events while their subscription is paused, and returns how fast
// they are delivered when it is resumed.
func drain(ctx context.Context, r *rig.Rig, ordered bool, events int) (rate float64, peak int, err error) {
	s, err := rig.StartSink()
	if err != nil {
		return 0, 0, err
	}
	defer s.Stop()
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	c := client.New(mill.URL, mill.Key)
	made, err := c.CreateSubscription(ctx, client.NewSubscription{
		URL: s.URL + rig.Counted + "0", Events: []string{"metric.*"}, Delivery: client.NewDelivery{Ordered: ordered},
	})
	if err != nil {
		return 0, 0, err
	}
	if _, err := c.ChangeSubscription(ctx, made.Created[0].ID, client.SubscriptionChange{State: "paused"}); err != nil {
		return 0, 0, err
	}
	const batch = 1000
	for first := 0; first < events; first += batch {
		many := make([]client.NewEvent, min(batch, events-first))
		for i := range many {
			many[i] = client.NewEvent{Type: "metric.created", ResourceID: fmt.Sprintf("m_%09d", (first+i)*7919%1_000_000_007), Data: map[string]string{"text": "x"}}
		}
		if _, err := c.PublishAll(ctx, many); err != nil {
			return 0, 0, err
		}
	}
	start, err := s.Count(ctx)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if _, err := c.ChangeSubscription(ctx, made.Created[0].ID, client.SubscriptionChange{State: "active"}); err != nil {
		return 0, 0, err
	}
	if err := s.WaitFor(ctx, start+events, func(int) {}); err != nil {
		return 0, 0, err
	}
	rate = float64(events) / time.Since(began).Seconds()
	_, peak = mill.Memory()
	return rate, peak, nil
}

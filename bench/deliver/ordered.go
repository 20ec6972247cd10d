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

// measureOrdered measures how fast a backlog is delivered with a subscription that is
// ordered and one that is not, and by a former release where there is one.
func measureOrdered(ctx context.Context, r *rig.Rig, o options) error {
	backlogs := []backlog{{name: "unordered", program: r.Feedmill}, {name: "ordered", program: r.Feedmill, ordered: true}}
	if o.former != "" {
		backlogs = append(backlogs, backlog{name: "ordered, former", program: o.former, ordered: true})
	}
	resources := o.resources
	if resources == 0 {
		resources = o.deliveries
	}
	for range o.rounds {
		for i := range backlogs {
			b := &backlogs[i]
			rate, peak, err := b.drain(ctx, r, o.deliveries, resources)
			if err != nil {
				return err
			}
			fmt.Printf("  %d events of %d resources, %-16s %7.0f/s delivered, peak %d MB\n", o.deliveries, resources, b.name, rate, peak>>20)
			b.rates = append(b.rates, rate)
		}
	}
	share := rig.Median(backlogs[1].rates) / rig.Median(backlogs[0].rates)
	fmt.Printf("%-40s median %.2f of the unordered rate", "ordered backlog", share)
	if o.resources == 0 {
		fmt.Printf(" (wanted: at least %.2f)", wantedOrdered)
	}
	fmt.Println()
	if o.former != "" {
		fmt.Printf("%-40s median %.2f of the former release's rate\n", "ordered backlog", rig.Median(backlogs[1].rates)/rig.Median(backlogs[2].rates))
	}
	return nil
}

// backlog is a way of delivering a backlog that is measured.
type backlog struct {
	name, program string
	ordered       bool
	rates         []float64
}

// drain accepts events while their subscription is paused, and returns how fast
// they are delivered when it is resumed.
func (b *backlog) drain(ctx context.Context, r *rig.Rig, events, resources int) (rate float64, peak int, err error) {
	s, err := rig.StartSink()
	if err != nil {
		return 0, 0, err
	}
	defer s.Stop()
	mill, err := r.Start(ctx, b.program)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	c := client.New(mill.URL, mill.Key)
	made, err := c.CreateSubscription(ctx, client.NewSubscription{
		URL: s.URL + rig.Counted + "0", Events: []string{"metric.*"}, Delivery: client.NewDelivery{Ordered: b.ordered},
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
			many[i] = client.NewEvent{Type: "metric.created", ResourceID: fmt.Sprintf("m_%09d", (first+i)%resources*7919%1_000_000_007), Data: map[string]string{"text": "x"}}
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

// Command publish measures whether publishing costs more in a workspace with
// many subscriptions than in one with few, when the same number match.
//
//	go run ./bench/publish
//
// Two workspaces of one SQLite store, one with 10 subscriptions and one with
// 100,000, of which 10 match in each. Rounds take turns; the figure is the
// ratio of the medians. It should be at most 1.5.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

const (
	matching = 10
	many     = 100_000
	rounds   = 7
	events   = 300
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

type nowhere struct{}

func (nowhere) Offer([]feedmill.DueDelivery) {}

func (nowhere) Wake() {}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "feedmill-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	store, err := sqlite.Open(ctx, filepath.Join(folder, "f.db"), feedmill.StoreOptions{})
	if err != nil {
		return err
	}
	defer store.Close()
	catalogue, err := feedmill.NewCatalogue(nil, nil)
	if err != nil {
		return err
	}
	p := publish.New(publish.Options{Store: store, Queue: nowhere{}, Catalogue: catalogue, Metrics: prometheus.NewRegistry()})
	few, err := fill(ctx, store, matching)
	if err != nil {
		return err
	}
	lots, err := fill(ctx, store, many)
	if err != nil {
		return err
	}
	var withFew, withMany []time.Duration
	for range rounds {
		for _, side := range []struct {
			workspace feedmill.ID
			times     *[]time.Duration
		}{{few, &withFew}, {lots, &withMany}} {
			took, err := publishSome(ctx, p, side.workspace)
			if err != nil {
				return err
			}
			*side.times = append(*side.times, took/events)
		}
	}
	slices.Sort(withFew)
	slices.Sort(withMany)
	a, b := withFew[rounds/2], withMany[rounds/2]
	fmt.Printf("one event with %d matching subscriptions, durable:\n", matching)
	fmt.Printf("  %7d subscriptions in the workspace  %v\n", matching, a)
	fmt.Printf("  %7d subscriptions in the workspace  %v\n", many, b)
	fmt.Printf("  ratio %.2f (at most 1.5)\n", float64(b)/float64(a))
	return nil
}

// fill makes a workspace with n subscriptions, of which a few match what is
// published: the others are to other types, or to other resources.
func fill(ctx context.Context, store *sqlite.DB, n int) (feedmill.ID, error) {
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), CreatedAt: time.Now()}
	w.Name = string(w.ID)
	if err := store.CreateWorkspace(ctx, w, nil); err != nil {
		return "", err
	}
	var subs []feedmill.Subscription
	for i := range n {
		s := feedmill.Subscription{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID,
			Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com/hook", Method: "POST"},
			Events:      []string{"metric.created"}, State: feedmill.SubscriptionActive, Secrets: []byte("sealed"),
			CreatedAt: w.CreatedAt, UpdatedAt: w.CreatedAt,
		}
		switch {
		case i < matching:
		case i%2 == 0:
			s.Events = []string{"tag.*", "dashboard.created"}
		default:
			s.ResourceID = fmt.Sprint("m_", i)
		}
		if subs = append(subs, s); len(subs) == 1000 || i == n-1 {
			if err := store.CreateSubscriptions(ctx, subs, 0, nil); err != nil {
				return "", err
			}
			subs = subs[:0]
		}
	}
	return w.ID, nil
}

func publishSome(ctx context.Context, p *publish.Publisher, workspace feedmill.ID) (time.Duration, error) {
	event := []feedmill.NewEvent{{Type: "metric.created", ResourceID: "m_0", Data: []byte(`{"value":1}`)}}
	start := time.Now()
	for range events {
		if _, err := p.Publish(ctx, workspace, event, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

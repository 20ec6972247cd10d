package publish

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/expression"
)

// filtered is a fixture whose publisher evaluates filters.
func filtered(t *testing.T) fixture {
	f := newFixture(t)
	f.Filters = &Filters{Store: f.store, Evaluator: expression.New()}
	return f
}

func (f fixture) subscribeFiltered(t *testing.T, filter string, events ...string) feedmill.ID {
	t.Helper()
	s := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: f.ws, Destination: feedmill.Destination{Kind: feedmill.DestinationWebhook, URL: "https://example.com", Method: "POST"},
		Events: events, Filter: filter, State: feedmill.SubscriptionActive, Secrets: []byte("sealed"), CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if err := f.store.CreateSubscriptions(t.Context(), []feedmill.Subscription{s}, 0, nil); err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// publish publishes an event with a number and returns whether its deliveries are promised, and who gets it.
func (f fixture) publish(t *testing.T, n int) (promised bool, to []feedmill.ID) {
	t.Helper()
	f.queue.due = nil
	accepted, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{{Type: "metric.created", ResourceID: "m_1", Data: fmt.Appendf(nil, `{"n":%d}`, n)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.queue.due {
		to = append(to, d.Subscription)
	}
	return accepted[0].Promised, to
}

// atOnce publishes until the deliveries are not promised: on a busy machine, filters can
// take longer than is waited for.
func (f fixture) atOnce(t *testing.T, n int) (promised bool, to []feedmill.ID) {
	t.Helper()
	for range 100 {
		if promised, to = f.publish(t, n); !promised {
			break
		}
	}
	return promised, to
}

func TestFiltersAreEvaluatedBeforeAcceptance(t *testing.T) {
	f := filtered(t)
	all, even := f.subscribe(t, "metric.*"), f.subscribeFiltered(t, `int(event.data.n) % 2 == 0`, "metric.created", "metric.*")
	f.subscribeFiltered(t, `event.data.missing == 1`, "metric.*")
	f.subscribeFiltered(t, `true`, "tag.*")
	if promised, to := f.atOnce(t, 2); promised || len(to) != 2 || to[0] != all || to[1] != even {
		t.Errorf("2 goes to %v, promised: %v", to, promised)
	}
	if promised, to := f.atOnce(t, 3); promised || len(to) != 1 || to[0] != all {
		t.Errorf("3 goes to %v, promised: %v", to, promised)
	}
	// Filters that another process has created or changed are found by the promise.
	f.subscribeFiltered(t, `event.data.n == 5`, "metric.created")
	if promised, to := f.publish(t, 5); !promised || len(to) != 0 {
		t.Errorf("5 goes to %v, promised: %v", to, promised)
	}
	if promised, to := f.atOnce(t, 5); promised || len(to) != 2 {
		t.Errorf("5 goes to %v again, promised: %v", to, promised)
	}
	other := f
	other.ws = feedmill.NewID(feedmill.PrefixWorkspace)
	if err := f.store.CreateWorkspace(t.Context(), feedmill.Workspace{ID: other.ws, Name: "other", CreatedAt: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	if promised, to := other.publish(t, 2); promised || len(to) != 0 {
		t.Errorf("in another workspace 2 goes to %v, promised: %v", to, promised)
	}
}

// Past 100 filters the deliveries are promised, and so they are without a slot.
func TestManyFiltersArePromised(t *testing.T) {
	f := filtered(t)
	for range feedmill.MaxFiltersAtOnce {
		f.subscribeFiltered(t, `event.data.n == 1`, "metric.*")
	}
	if promised, to := f.atOnce(t, 1); promised || len(to) != feedmill.MaxFiltersAtOnce {
		t.Errorf("with %d filters it goes to %d, promised: %v", feedmill.MaxFiltersAtOnce, len(to), promised)
	}
	f.Filters.Evaluator = withoutSlots{expression.New()}
	if promised, _ := f.publish(t, 1); !promised {
		t.Error("without a slot it is not promised")
	}
	f.Filters.Evaluator = expression.New()
	f.subscribeFiltered(t, `event.data.n == 1`, "metric.*")
	f.Filters.Forget(f.ws)
	if promised, to := f.publish(t, 1); !promised || len(to) != 0 {
		t.Errorf("with one more it goes to %d, promised: %v", len(to), promised)
	}
}

// withoutSlots is an evaluator all of whose slots are taken.
type withoutSlots struct{ Evaluator }

func (withoutSlots) Try(context.Context) (func(), bool) { return nil, false }

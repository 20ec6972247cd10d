package publish

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// FilterStore has the subscriptions that have filters.
type FilterStore interface {
	FilteredSubscriptions(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.Subscription, error)
}

// Evaluator evaluates filters.
type Evaluator interface {
	// Open prepares the event of a payload.
	Open(payload []byte) feedmill.EventFilter
	// Try takes a slot for the workspace of ctx, if one is free.
	Try(ctx context.Context) (release func(), ok bool)
}

// maxFilteredWorkspaces is how many workspaces are remembered, with or without filters.
const maxFilteredWorkspaces = 10_000

// Filters evaluates the filters of subscriptions before events are accepted, outside the
// write transaction. It remembers the filters of each workspace. The store accepts an event
// whose filters have other or no verdicts with a promise and evaluates them later, so what
// is remembered may be out of date.
type Filters struct {
	Store     FilterStore
	Evaluator Evaluator

	mu    sync.RWMutex
	known map[feedmill.ID]*workspaceFilters
}

// workspaceFilters are the subscriptions of a workspace that have a filter, by the topics
// that they are matched by.
type workspaceFilters struct {
	byTopic map[filterTopic][]subscriptionFilter
	// many says that there are more than are remembered.
	many bool
}

type filterTopic struct{ name, resource string }

type subscriptionFilter struct {
	subscription feedmill.ID
	filter       string
}

// Forget makes the filters of a workspace be read again.
func (f *Filters) Forget(workspace feedmill.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, workspace)
}

// evaluate adds the verdicts to the events of one workspace. It reports whether all filters
// that it knows were evaluated.
func (f *Filters) evaluate(ctx context.Context, events []feedmill.Event) (all bool) {
	if len(events) == 0 {
		return true
	}
	filters := f.of(ctx, events[0].Workspace)
	switch {
	case filters == nil || filters.many:
		return false
	case len(filters.byTopic) == 0:
		return true
	}
	release, ok := f.Evaluator.Try(ctx)
	if !ok {
		return false
	}
	defer release()
	all = true
	for i := range events {
		verdicts, ok := f.evaluateEvent(filters, &events[i])
		events[i].Verdicts, all = verdicts, all && ok
	}
	return all
}

// evaluateEvent evaluates the filters for one event. It returns no verdicts if they are too
// many or take too long.
func (f *Filters) evaluateEvent(filters *workspaceFilters, e *feedmill.Event) (verdicts feedmill.FilterVerdicts, ok bool) {
	name, wildcard, resource := e.Match()
	var filter feedmill.EventFilter
	var until time.Time
	for _, topic := range [6]filterTopic{{name, ""}, {wildcard, ""}, {feedmill.Everything(name), ""}, {name, resource}, {wildcard, resource}, {feedmill.Everything(name), resource}} {
		for _, s := range filters.byTopic[topic] {
			if filter == nil {
				filter, verdicts, until = f.Evaluator.Open(e.Payload), make(feedmill.FilterVerdicts), time.Now().Add(feedmill.MaxFilterTime)
			}
			if _, done := verdicts[s.subscription]; done {
				continue
			}
			if len(verdicts) == feedmill.MaxFiltersAtOnce || time.Now().After(until) {
				return nil, false
			}
			verdicts[s.subscription] = filter(s.filter)
		}
	}
	return verdicts, true
}

// of returns the filters of a workspace; nil if they cannot be read.
func (f *Filters) of(ctx context.Context, workspace feedmill.ID) *workspaceFilters {
	f.mu.RLock()
	known := f.known[workspace]
	f.mu.RUnlock()
	if known != nil {
		return known
	}
	subs, err := f.Store.FilteredSubscriptions(ctx, workspace, feedmill.MaxCachedFilters+1)
	if err != nil {
		return nil // the store evaluates them
	}
	known = &workspaceFilters{many: len(subs) > feedmill.MaxCachedFilters}
	if len(subs) > 0 && !known.many {
		known.byTopic = make(map[filterTopic][]subscriptionFilter)
		for _, sub := range subs {
			for name, resource := range sub.Topics() {
				topic := filterTopic{name, resource}
				known.byTopic[topic] = append(known.byTopic[topic], subscriptionFilter{sub.ID, sub.Filter})
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= maxFilteredWorkspaces {
		f.known = make(map[feedmill.ID]*workspaceFilters)
	}
	f.known[workspace] = known
	return known
}

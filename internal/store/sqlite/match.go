package sqlite

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// match is a subscription that an event is for.
type match struct {
	subscription      feedmill.ID
	disabled, ordered bool
	// attempts is how many its deliveries get; zero means as many as the
	// service's schedule makes.
	attempts int
}

// matching looks for each pair of a topic and a filter by itself: SQLite makes
// a temporary table for every IN and every DISTINCT, and this query runs for
// each event.
const (
	unfilteredTopic = `SELECT subscription_id, disabled, ordered, attempts FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?2 AND resource_id = ''
		UNION ALL SELECT subscription_id, disabled, ordered, attempts FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?3 AND resource_id = ''`
	filteredTopic = ` UNION ALL SELECT subscription_id, disabled, ordered, attempts FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?2 AND resource_id = ?4
		UNION ALL SELECT subscription_id, disabled, ordered, attempts FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?3 AND resource_id = ?4`
)

// match finds the subscriptions that an event is for, in the order of their
// ids. One that names both the event and its family is found once.
func (t *tx) match(e feedmill.Event) ([]match, error) {
	name, wildcard, resource := e.Match()
	key := topic{e.Workspace, name, resource}
	if found, ok := t.matches[key]; ok {
		return found, nil
	}
	query, args := unfilteredTopic, []any{string(e.Workspace), name, wildcard}
	if resource != "" {
		query, args = unfilteredTopic+filteredTopic, append(args, resource)
	}
	var found []match
	err := t.each(query, args, func(r *row) {
		found = append(found, match{feedmill.ID(r.text("")), r.int() != 0, r.int() != 0, int(r.int())})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b match) int { return strings.Compare(string(a.subscription), string(b.subscription)) })
	found = slices.Compact(found)
	if len(t.matches) < maxMatches {
		t.matches[key] = found
	}
	return found, nil
}

// topic is what an event is matched by.
type topic struct {
	workspace      feedmill.ID
	name, resource string
}

// maxMatches bounds what a transaction remembers of who listens to what. It
// forgets all of it where that changes.
const maxMatches = 1000

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

// matched are those that an event is for, in the order of their ids; more says
// that they are too many to be listed, or to be written at once.
type matched struct {
	to   []match
	more bool
}

const (
	// fewMatches is how many matches are read without being counted before.
	fewMatches = 500
	anyMatches = ` LIMIT ?5`
)

// match finds the subscriptions that an event is for. One that names both the event
// and its family is found once.
func (t *tx) match(e feedmill.Event) (matched, error) {
	name, wildcard, resource := e.Match()
	key := topic{e.Workspace, name, resource}
	if found, ok := t.matches[key]; ok {
		return found, nil
	}
	query, args := unfilteredTopic, []any{string(e.Workspace), name, wildcard, resource}
	if resource != "" {
		query = unfilteredTopic + filteredTopic
	}
	found, err := t.readMatches(query, append(args, fewMatches+1))
	if err == nil && len(found.to) > fewMatches {
		var n int
		const most = feedmill.MaxMadeAtOnce + 1
		err = t.each(`SELECT count(*) FROM (`+query+anyMatches+`)`, append(args, most), func(r *row) { n = int(r.int()) })
		switch {
		case err != nil:
		case n == most:
			found.more = true
		default:
			found, err = t.readMatches(query, append(args, most))
		}
	}
	if err != nil {
		return matched{}, err
	}
	if t.matchCount+len(found.to) > maxMatches {
		t.forgetMatches()
	}
	t.matches[key] = found
	t.matchCount += len(found.to) + 1
	return found, nil
}

func (t *tx) readMatches(query string, args []any) (matched, error) {
	var found []match
	err := t.each(query+anyMatches, args, func(r *row) {
		found = append(found, match{feedmill.ID(r.text("")), r.int() != 0, r.int() != 0, int(r.int())})
	})
	slices.SortFunc(found, func(a, b match) int { return strings.Compare(string(a.subscription), string(b.subscription)) })
	return matched{to: slices.Compact(found)}, err
}

// anyOrdered reports whether one of the subscriptions is ordered.
func (m matched) anyOrdered() bool {
	return slices.ContainsFunc(m.to, func(m match) bool { return m.ordered })
}

// forgetMatches forgets who listens to what.
func (t *tx) forgetMatches() {
	clear(t.matches)
	t.matchCount = 0
}

// topic is what an event is matched by.
type topic struct {
	workspace      feedmill.ID
	name, resource string
}

// maxMatches bounds what a transaction remembers of who listens to what. It
// forgets all of it where that changes.
const maxMatches = 50_000

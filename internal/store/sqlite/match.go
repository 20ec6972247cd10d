package sqlite

import (
	"slices"
	"strconv"
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
	// filter is the key of its filter; 0 means that it has none.
	filter int64
}

// matching looks for each pair of a topic and a filter by itself: SQLite makes
// a temporary table for every IN and every DISTINCT, and this query runs for
// each event.
const (
	unfilteredTopic = `SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?2 AND resource_id = ''
		UNION ALL SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?3 AND resource_id = ''
		UNION ALL SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?4 AND resource_id = ''`
	filteredTopic = ` UNION ALL SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?2 AND resource_id = ?5
		UNION ALL SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?3 AND resource_id = ?5
		UNION ALL SELECT subscription_id, disabled, ordered, attempts, filter_key FROM subscription_topics WHERE workspace_id = ?1 AND topic = ?4 AND resource_id = ?5`
)

// matched are those that an event is for, in the order of their ids; more says
// that they are too many to be listed, or to be written at once.
type matched struct {
	to   []match
	more bool
	// uncounted says that there are others, and it is not known how many.
	uncounted bool
	// filtered says that some have a filter.
	filtered bool
}

// fewMatches is how many matches are read without being counted before.
const fewMatches = 500

// upTo ends a query that is to find so many matches, and one to see that there are
// others. The number stands in the text: SQLite plans by the value of a bound LIMIT and
// so would prepare the statement anew for each event, which takes longer than
// everything else that is done to accept it.
func upTo(most int) string { return " LIMIT " + strconv.Itoa(most+1) }

// The first matches, and all that may be written at once.
var firstMatches, allMatches = upTo(fewMatches), upTo(feedmill.MaxMadeAtOnce)

// match finds the subscriptions that an event is for, of which its call has so many
// like it. One that names both the event and its family is found once.
func (t *tx) match(e feedmill.Event, alike int) (matched, error) {
	name, wildcard, resource := e.Match()
	key := topic{e.Workspace, name, resource}
	found, known := t.matches[key]
	if known && !found.uncounted {
		return found, nil
	}
	query, args := unfilteredTopic, []any{string(e.Workspace), name, wildcard, feedmill.Everything(name)}
	if resource != "" {
		query, args = unfilteredTopic+filteredTopic, append(args, resource)
	}
	var err error
	if !known {
		found, err = t.readMatches(query+firstMatches, args, fewMatches)
	}
	if err == nil && found.uncounted {
		// The first few can be too many already, with all that are alike. Another
		// call may have fewer of those, so that is not remembered.
		if len(found.to)*alike > feedmill.MaxMadeAtOnce {
			t.rememberMatches(key, found)
			found.more = true
			return found, nil
		}
		found, err = t.countMatches(query, args, found)
	}
	if err != nil {
		return matched{}, err
	}
	t.rememberMatches(key, found)
	return found, nil
}

// countMatches reads all matches where there are some already and others, unless
// those are too many.
func (t *tx) countMatches(query string, args []any, some matched) (matched, error) {
	var n int
	err := t.each(`SELECT count(*) FROM (`+query+allMatches+`)`, args, func(r *row) { n = int(r.int()) })
	if err != nil || n > feedmill.MaxMadeAtOnce {
		some.more, some.uncounted = true, false
		return some, err
	}
	return t.readMatches(query+allMatches, args, n)
}

// readMatches reads matches by a query that finds at most so many, and others where
// there are more.
func (t *tx) readMatches(query string, args []any, most int) (matched, error) {
	var found []match
	err := t.each(query, args, func(r *row) {
		found = append(found, match{feedmill.ID(r.text("")), r.int() != 0, r.int() != 0, int(r.int()), r.int()})
	})
	others := len(found) > most // before a subscription that is found twice is taken for one
	slices.SortFunc(found, func(a, b match) int { return strings.Compare(string(a.subscription), string(b.subscription)) })
	filtered := slices.ContainsFunc(found, func(m match) bool { return m.filter != 0 })
	return matched{to: slices.Compact(found), uncounted: others, filtered: filtered}, err
}

// rememberMatches remembers who listens to a topic for the rest of the transaction.
func (t *tx) rememberMatches(key topic, found matched) {
	if t.matchCount+len(found.to) > maxMatches {
		t.forgetMatches()
	}
	if _, known := t.matches[key]; !known {
		t.matchCount++
	}
	t.matches[key] = found
	t.matchCount += len(found.to)
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

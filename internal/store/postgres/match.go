package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
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

// fewMatches is how many matches are listed in any case.
const fewMatches = 500

// topic is what an event is matched by.
type topic struct {
	workspace      feedmill.ID
	name, resource string
}

// topicsOf are the topics of an event under which subscriptions may stand.
func topicsOf(e feedmill.Event) []topic {
	name, wildcard, resource := e.Match()
	names := []string{name, wildcard}
	if every := feedmill.Everything(name); every != "" {
		names = append(names, every)
	}
	topics := make([]topic, 0, 2*len(names))
	for _, name := range names {
		topics = append(topics, topic{e.Workspace, name, ""})
		if resource != "" {
			topics = append(topics, topic{e.Workspace, name, resource})
		}
	}
	return topics
}

// match finds the subscriptions to the topics of the events. Of a topic that has more
// than its limit it only says so, because their deliveries are made later: they are counted in the
// index of the topics and not looked up one by one.
func (a *acceptBatch) match(b *pgx.Batch) {
	var workspaces, names, resources []string
	var numbers, limits []int32
	for t, i := range a.topics {
		workspaces, names, resources = append(workspaces, string(t.workspace)), append(names, t.name), append(resources, t.resource)
		numbers, limits = append(numbers, int32(i)), append(limits, int32(a.limits[i]))
	}
	each(b.Queue(`SELECT e.number, found.many, s.id, s.state = 'disabled', s.attempts, s.ordered, s.filter_key
		FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::integer[]) AS e (workspace_id, topic, resource_id, number, most)
		CROSS JOIN LATERAL (SELECT array_agg(subscription_id) AS ids, count(*) > e.most AS many FROM (SELECT subscription_id FROM subscription_topics t
			WHERE t.workspace_id = e.workspace_id AND t.topic = e.topic AND t.resource_id = e.resource_id LIMIT e.most + 1) t) found
		CROSS JOIN LATERAL unnest(CASE WHEN found.many THEN found.ids[:1] ELSE found.ids END) AS t (subscription_id)
		CROSS JOIN LATERAL (SELECT id, state, attempts, ordered, filter_key FROM subscriptions s WHERE s.id = t.subscription_id OFFSET 0) s`, workspaces, names, resources, numbers, limits),
		func(row record.Row) error {
			var i int
			var m match
			var many bool
			if err := row.Scan(&i, &many, &m.subscription, &m.disabled, &m.attempts, &m.ordered, &m.filter); err != nil {
				return err
			}
			a.matches[i], a.many[i] = append(a.matches[i], m), many
			return nil
		})
}

// matchesOf are the subscriptions that an event is for, in the order of their
// ids. One that names both the event and its family is found once.
// many says that there are too many to be written at once.
func (a *acceptBatch) matchesOf(e feedmill.Event) (found []match, many bool) {
	for _, t := range topicsOf(e) {
		i := a.topics[t]
		if a.many[i] {
			return nil, true
		}
		found = append(found, a.matches[i]...)
	}
	slices.SortFunc(found, func(x, y match) int { return strings.Compare(string(x.subscription), string(y.subscription)) })
	return slices.Compact(found), false
}

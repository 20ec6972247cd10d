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
	subscription feedmill.ID
	disabled     bool
	// attempts is how many its deliveries get; zero means as many as the
	// service's schedule makes.
	attempts int
}

// topic is what an event is matched by.
type topic struct {
	workspace      feedmill.ID
	name, resource string
}

// topicsOf are the topics of an event under which subscriptions may stand.
func topicsOf(e feedmill.Event) []topic {
	name, wildcard, resource := e.Match()
	topics := []topic{{e.Workspace, name, ""}, {e.Workspace, wildcard, ""}}
	if resource != "" {
		topics = append(topics, topic{e.Workspace, name, resource}, topic{e.Workspace, wildcard, resource})
	}
	return topics
}

// match finds the subscriptions to the topics of the events.
func (a *acceptBatch) match(b *pgx.Batch) {
	var workspaces, names, resources []string
	var numbers []int32
	for t, i := range a.topics {
		workspaces, names, resources = append(workspaces, string(t.workspace)), append(names, t.name), append(resources, t.resource)
		numbers = append(numbers, int32(i))
	}
	each(b.Queue(`SELECT e.number, s.id, s.state = 'disabled', s.attempts
		FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[]) AS e (workspace_id, topic, resource_id, number)
		CROSS JOIN LATERAL (SELECT subscription_id FROM subscription_topics t
			WHERE t.workspace_id = e.workspace_id AND t.topic = e.topic AND t.resource_id = e.resource_id OFFSET 0) t
		CROSS JOIN LATERAL (SELECT id, state, attempts FROM subscriptions s WHERE s.id = t.subscription_id OFFSET 0) s`, workspaces, names, resources, numbers),
		func(row record.Row) error {
			var i int
			var m match
			if err := row.Scan(&i, &m.subscription, &m.disabled, &m.attempts); err != nil {
				return err
			}
			a.matches[i] = append(a.matches[i], m)
			return nil
		})
}

// matchesOf are the subscriptions that an event is for, in the order of their
// ids. One that names both the event and its family is found once.
func (a *acceptBatch) matchesOf(e feedmill.Event) (found []match) {
	for _, t := range topicsOf(e) {
		found = append(found, a.matches[a.topics[t]]...)
	}
	slices.SortFunc(found, func(x, y match) int { return strings.Compare(string(x.subscription), string(y.subscription)) })
	return slices.Compact(found)
}

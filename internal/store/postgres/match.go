package postgres

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

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

type listener struct {
	subscription feedmill.ID
	disabled     bool
}

// listenersOf are the subscriptions that an event is for, each once.
func (a *acceptance) listenersOf(e feedmill.Event) (all []listener) {
	for _, t := range topicsOf(e) {
		all = append(all, a.listeners[a.topics[t]]...)
	}
	slices.SortFunc(all, func(x, y listener) int { return strings.Compare(string(x.subscription), string(y.subscription)) })
	return slices.Compact(all)
}

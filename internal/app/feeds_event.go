package app

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
)

// eventKind is what happened to a feed.
type eventKind string

const (
	createdEvent   eventKind = "datasource.created"
	updatedEvent   eventKind = "datasource.updated"
	refreshedEvent eventKind = "datasource.refreshed"
	failedEvent    eventKind = "datasource.refresh_failed"
	deletedEvent   eventKind = "datasource.deleted"
)

// feedEvents are the events that tell of a feed, in the form in which they are
// stored. The loading, where there is one, is what it tells of.
func feedEvents(feed feedmill.Feed, l *loading, kinds ...eventKind) ([]feedmill.Event, error) {
	var all []feedmill.Event
	for _, kind := range kinds {
		events, err := publish.SourceEvents(feedmill.SourceEvent{
			Workspace: feed.Workspace, Type: string(kind), Timestamp: now(), Source: feed.Source, Feeds: []feedmill.ID{feed.ID},
			Data: eventData(feed, l, kind),
		})
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

func eventData(feed feedmill.Feed, l *loading, kind eventKind) map[string]any {
	data := map[string]any{"dataSourceId": string(feed.Source)}
	switch kind {
	case createdEvent:
		data["name"], data["type"] = feed.Name, string(feed.Type)
	case updatedEvent, deletedEvent:
		data["name"] = feed.Name
	case refreshedEvent:
		data["refreshId"], data["version"], data["rowCount"] = string(l.refresh.ID), l.version.Number, l.version.Rows
	case failedEvent:
		data["refreshId"], data["error"], data["detail"] = string(l.refresh.ID), l.refresh.Error.Type, l.refresh.Error.Detail
	}
	return data
}

package feed

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/publish"
)

// The kinds of news that no run makes.
const (
	newsCreated = "datasource.created"
	newsDeleted = "datasource.deleted"
)

// feedEvents are the events that tell of a feed as it is now, in the form in
// which they are stored.
func feedEvents(feed feedmill.Feed, kinds ...string) ([]feedmill.Event, error) {
	var all []feedmill.Event
	for _, kind := range kinds {
		events, err := publish.SourceEvents(feedmill.SourceEvent{
			Workspace: feed.Workspace, Type: kind, Timestamp: now(), Source: feed.Source, Feeds: []feedmill.ID{feed.ID},
			Data: eventData(feed, kind),
		})
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

// NewsEvents are the events that tell of what happened to feeds of a source.
func NewsEvents(c *feedmill.SourceChange, news []feedmill.SourceNews) ([]feedmill.Event, error) {
	var all []feedmill.Event
	for _, n := range news {
		events, err := feedEvents(*c.Feed(n.Feed), n.Kind)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

func eventData(feed feedmill.Feed, kind string) map[string]any {
	data := map[string]any{"dataSourceId": string(feed.Source)}
	switch kind {
	case newsCreated:
		data["name"], data["type"] = feed.Name, string(feed.Type)
	case feedmill.NewsRefreshed:
		data["refreshId"], data["version"], data["rowCount"] = string(feed.LastRefresh.ID), feed.Version, feed.RowCount
		data["outcome"] = "changed"
		if feed.LastRefresh.Unchanged {
			data["outcome"] = "unchanged"
		}
	case feedmill.NewsFailed, feedmill.NewsAuthRequired:
		data["refreshId"], data["error"], data["detail"] = string(feed.LastRefresh.ID), feed.LastRefresh.Error.Type, feed.LastRefresh.Error.Detail
	default:
		data["name"] = feed.Name
	}
	return data
}

package feed

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// The kinds of news that no run makes.
const (
	newsCreated = "datasource.created"
	newsDeleted = "datasource.deleted"
)

// Events makes the public events of an internal one, in the form in which they
// are stored.
type Events func(feedmill.SourceEvent) ([]feedmill.Event, error)

// of are the events that tell of a feed as it is now.
func (e Events) of(feed feedmill.Feed, kinds ...string) ([]feedmill.Event, error) {
	news := make([]feedmill.SourceNews, len(kinds))
	for i, kind := range kinds {
		news[i].Kind = kind
	}
	return e.tell(feed, news...)
}

// tell is of for news with more to them than their kind.
func (e Events) tell(feed feedmill.Feed, news ...feedmill.SourceNews) ([]feedmill.Event, error) {
	var all []feedmill.Event
	for _, n := range news {
		data := eventData(feed, n.Kind)
		if n.Kind == feedmill.NewsUpdated {
			data["fields"] = slices.Concat([]string{}, n.Fields)
		}
		events, err := e(feedmill.SourceEvent{
			Workspace: feed.Workspace, Type: n.Kind, Timestamp: now(), Source: feed.Source, Feeds: []feedmill.ID{feed.ID},
			Data: data,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	return all, nil
}

// OfNews are the events that tell of what happened to feeds of a source.
func (e Events) OfNews(c *feedmill.SourceChange, news []feedmill.SourceNews) ([]feedmill.Event, error) {
	var all []feedmill.Event
	for _, n := range news {
		events, err := e.tell(*c.Feed(n.Feed), n)
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
		refreshed(data, feed)
	case feedmill.NewsFailed, feedmill.NewsAuthRequired:
		data["refreshId"], data["error"], data["detail"] = string(feed.LastRefresh.ID), feed.LastRefresh.Error.Type, feed.LastRefresh.Error.Detail
	case feedmill.NewsStale:
		data["expectEvery"], data["lastSuccessAt"] = feedmill.FormatDuration(feed.Expects.Every), nil
		if !feed.SucceededAt.IsZero() {
			data["lastSuccessAt"] = feed.SucceededAt.UTC().Format(feedmill.TimestampFormat)
		}
	default:
		data["name"] = feed.Name
	}
	return data
}

// refreshed says what a refresh that succeeded has changed.
func refreshed(data map[string]any, feed feedmill.Feed) {
	r := feed.LastRefresh
	data["refreshId"], data["version"], data["rowCount"] = string(r.ID), feed.Version, feed.RowCount
	data["outcome"], data["changed"] = "changed", true
	changes, before := r.Changes, feed.Version-1
	if r.Unchanged {
		data["outcome"], data["changed"] = "unchanged", false
		before = feed.Version
		changes.Columns = feedmill.CompareColumns(nil, nil)
		if len(feed.Key) > 0 {
			changes.Rows = new(feedmill.RowChanges)
		}
	}
	data["columns"], data["rows"], data["previousVersion"] = changes.Columns, nil, nil
	if changes.Rows != nil {
		data["rows"] = changes.Rows
	}
	if before > 0 {
		data["previousVersion"] = before
	}
}

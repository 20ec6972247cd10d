package feedmill

import (
	"strings"
	"time"
)

// The gateway stands between the internal events of data sources and the
// public events of data feeds. Inside, only datasource.* names and ds_ ids
// exist for this family; outside, only datafeed.source.* names and df_ ids.
// Everything that crosses is mapped here, in both directions, and nowhere else.

const (
	internalFamily = "datasource"
	publicFamily   = "datafeed.source"
)

// gatewayFields is the one table of names inside payloads: what an internal
// event's data calls its source, and what the public event's data calls its
// feed.
var gatewayFields = map[string]string{"dataSourceId": "dataFeedId"}

// SourceWildcard is the public name of all events of the gateway's family.
const SourceWildcard = publicFamily + ".*"

// InternalName maps a public event name or wildcard of the family to its
// internal twin; every other name stays as it is.
func InternalName(public string) string {
	if rest, ok := strings.CutPrefix(public, publicFamily+"."); ok {
		return internalFamily + "." + rest
	}
	return public
}

// PublicName is the reverse of [InternalName].
func PublicName(internal string) string {
	if rest, ok := strings.CutPrefix(internal, internalFamily+"."); ok {
		return publicFamily + "." + rest
	}
	return internal
}

// IsSourceName reports whether a public name belongs to the gateway's family.
func IsSourceName(public string) bool { return strings.HasPrefix(public, publicFamily+".") }

// IsInternalName reports whether a name belongs to the family that no client
// may use.
func IsInternalName(name string) bool { return strings.HasPrefix(name, internalFamily+".") }

// InternalFilter maps the feed that a subscriber names to the source behind
// it. The feed stays part of the filter, because a source can have several.
func InternalFilter(source, feed ID) string { return string(source) + "/" + string(feed) }

// PublicFilter is the reverse of [InternalFilter]: the feed as the subscriber
// named it. A filter of another family stays as it is.
func PublicFilter(internal string) string {
	source, feed, _ := strings.Cut(internal, "/")
	if IsID(PrefixDataSource, source) && IsID(PrefixDataFeed, feed) {
		return feed
	}
	return internal
}

// SourceEvent is an internal event of a data source.
type SourceEvent struct {
	Workspace ID
	// Type is a datasource.* name.
	Type      string
	Timestamp time.Time
	Source    ID
	// Feeds are those that the event concerns, fixed when it happened.
	Feeds []ID
	// Data is a flat set of facts: texts, numbers and booleans.
	Data map[string]any
}

// PublicEvents maps an internal event to one public event for each feed that
// it concerns. The payload is not rendered yet.
func (e SourceEvent) PublicEvents() []SourceFact {
	facts := make([]SourceFact, 0, len(e.Feeds))
	for _, feed := range e.Feeds {
		data := make(map[string]any, len(e.Data))
		for name, v := range e.Data {
			if public, ok := gatewayFields[name]; ok {
				name = public
			}
			if v == string(e.Source) {
				v = string(feed)
			}
			data[name] = v
		}
		facts = append(facts, SourceFact{
			Workspace: e.Workspace, Type: PublicName(e.Type), Timestamp: e.Timestamp, Source: e.Source, Feed: feed, Data: data,
		})
	}
	return facts
}

// SourceFact is a public event of a data feed, with the source that only the
// service may know of.
type SourceFact struct {
	Workspace ID
	// Type is a datafeed.source.* name.
	Type      string
	Timestamp time.Time
	Source    ID
	Feed      ID
	Data      map[string]any
}

// Internal is the reverse of [SourceEvent.PublicEvents], for one feed.
func (f SourceFact) Internal() SourceEvent {
	data := make(map[string]any, len(f.Data))
	for name, v := range f.Data {
		for internal, public := range gatewayFields {
			if name == public {
				name = internal
			}
		}
		if v == string(f.Feed) {
			v = string(f.Source)
		}
		data[name] = v
	}
	return SourceEvent{Workspace: f.Workspace, Type: InternalName(f.Type), Timestamp: f.Timestamp, Source: f.Source, Feeds: []ID{f.Feed}, Data: data}
}

package feedmill

import (
	"encoding/json"
	"strings"
	"time"
)

// FeedSort is what a list of feeds goes by.
type FeedSort string

// What a list of feeds can go by.
const (
	SortFeedCreated FeedSort = "createdAt"
	SortFeedName    FeedSort = "name"
	SortFeedUpdated FeedSort = "updatedAt"
	SortFeedRows    FeedSort = "rowCount"
	SortFeedBytes   FeedSort = "byteSize"
)

// FeedSorts are all of them.
var FeedSorts = []FeedSort{SortFeedCreated, SortFeedName, SortFeedUpdated, SortFeedRows, SortFeedBytes}

// FeedStates are all states of a feed.
var FeedStates = []FeedState{FeedPending, FeedRefreshing, FeedReady, FeedFailed, FeedPaused, FeedAuthRequired}

// FeedSearch asks for a part of the feeds of a workspace.
type FeedSearch struct {
	// States are those that a feed may have, none for any.
	States []FeedState
	// Text is what the name of a feed or the label of its source must have in
	// it, in upper or lower case.
	Text       string
	Sort       FeedSort
	Descending bool
	// After is where the part before ended, nil for the first.
	After *FeedPlace
	Limit int
	// Fits, where set, is given each feed in turn, instead of [FeedsFound.Feeds]. The part
	// ends before the first feed that it refuses.
	Fits func(Feed) bool
	// CountStates asks for how many feeds have each state.
	CountStates bool
}

// FeedPlace is the place of a feed in a sorted list: the value that the list goes
// by, as text, and the id, which tells feeds with equal values apart.
type FeedPlace struct {
	Value string
	ID    ID
}

// FeedsFound is a part of a list of feeds.
type FeedsFound struct {
	Feeds []Feed
	// Next is where the part ends, nil where there are no more feeds.
	Next *FeedPlace
	// Total is how many feeds the whole list has.
	Total int64
	// ByState is how many there would be of each state in a list of all states.
	ByState map[FeedState]int64
}

// maxLabelBytes bounds the label of a source.
const maxLabelBytes = 300

// SearchText is what a search looks at, in lower case: the name of the feed and
// the label of its source. It begins with the name, so that lists by name can go
// by it.
func (f *Feed) SearchText() string { return strings.ToLower(f.Name + "\n" + f.SourceLabel()) }

// labelSpec is the part of a feed's spec that its label is built from.
type labelSpec struct {
	File    string `json:"file"`
	Sheet   int    `json:"sheet"`
	Request struct {
		URL any `json:"url"`
	} `json:"request"`
	ServiceName string `json:"serviceName"`
	ViewName    string `json:"viewName"`
}

// SourceLabel says in short where the data of a feed comes from: the name of a
// file, the host and path of a request, or the service and view of a query.
func (f *Feed) SourceLabel() string {
	var spec labelSpec
	kind := f.Type.Kind()
	if kind.label == nil || json.Unmarshal(f.Spec, &spec) != nil {
		return ""
	}
	label := strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, kind.label(spec))
	if len(label) > maxLabelBytes {
		label = strings.ToValidUTF8(label[:maxLabelBytes-len("…")], "") + "…"
	}
	return label
}

// hostAndPath is a URL without what can hold a secret: its query and who asks.
func hostAndPath(text string) string {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	host, path, _ := strings.Cut(rest, "/")
	if path != "" {
		path = "/" + path
	}
	return host[strings.LastIndexByte(host, '@')+1:] + strings.TrimSuffix(path, "/")
}

// PlaceTime is a time as the value of a place, and TimeOfPlace the reverse.
func PlaceTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// TimeOfPlace reads the value of a place in a list that goes by a time.
func TimeOfPlace(value string) (time.Time, error) { return time.Parse(time.RFC3339Nano, value) }

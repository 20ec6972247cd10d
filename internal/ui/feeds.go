package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// feedList is the page of all feeds.
type feedList struct {
	Feeds []feedRow
	// Total is how many feeds there are in all that are found, and All how many in any
	// state.
	Total, All int64
	Counts     []stateCount
	Query      string
	State      string
	Sort       string
	Here       *url.URL
	More       string
}

type stateCount struct {
	State string
	Count int64
}

type feedRow struct {
	client.DataFeed
	Kind    string
	Ticks   template.HTML
	Trouble *trouble
}

// trouble is the sentence below a feed that somebody should look at.
type trouble struct{ Tone, What, More, Action, Do string }

// listedFeeds is how many feeds the list shows at once.
const listedFeeds = 50

// feedStates are those that the list can be filtered by.
var feedStates = []feedmill.FeedState{
	feedmill.FeedReady, feedmill.FeedRefreshing, feedmill.FeedFailed, feedmill.FeedPaused, feedmill.FeedAuthRequired, feedmill.FeedPending,
}

// feedSorts are the columns that the list can be sorted by.
var feedSorts = []string{"name", "-name", "rowCount", "-rowCount", "byteSize", "-byteSize", "updatedAt", "-updatedAt"}

func showFeeds(v *visit) error {
	q := v.r.URL.Query()
	list := feedList{Query: strings.TrimSpace(q.Get("q")), State: q.Get("state"), Sort: cmp.Or(q.Get("sort"), "name"), Here: v.r.URL}
	if !slices.Contains(feedSorts, list.Sort) {
		list.Sort = "name"
	}
	search := client.DataFeedSearch{Text: list.Query, Sort: list.Sort, Counts: true, Limit: listedFeeds, Cursor: q.Get("cursor")}
	if slices.Contains(feedStates, feedmill.FeedState(list.State)) {
		search.States = []feedmill.FeedState{feedmill.FeedState(list.State)}
	} else {
		list.State = ""
	}
	found, err := v.api.SearchDataFeeds(v.r.Context(), search)
	if err != nil {
		return err
	}
	list.Total = found.Total
	for _, s := range feedStates {
		if n := found.Counts[s]; n > 0 || list.State == string(s) {
			list.Counts = append(list.Counts, stateCount{string(s), n})
			list.All += n
		}
	}
	if list.All == 0 && list.Query == "" && list.State == "" {
		return v.render(http.StatusOK, "feeds_empty", "Feeds", nil)
	}
	for _, f := range found.Feeds {
		list.Feeds = append(list.Feeds, rowOf(f))
	}
	if found.Next != "" {
		list.More = with(v.r.URL, "cursor", found.Next)
	}
	return v.render(http.StatusOK, "feeds", "Feeds", list)
}

// InState is the page with the feeds of one state.
func (l feedList) InState(state string) string { return with(l.Here, "state", state, "cursor", "") }

// By is the page sorted by a column: the other way where it is already.
func (l feedList) By(column, first string) string {
	order := first + column
	if l.Sort == order {
		order = map[string]string{"": "-", "-": ""}[first] + column
	}
	return with(l.Here, "sort", order, "cursor", "")
}

// Arrow shows which way the list is sorted by a column.
func (l feedList) Arrow(column string) string {
	switch l.Sort {
	case column:
		return " ↑"
	case "-" + column:
		return " ↓"
	}
	return ""
}

// Sorted is what those hear who do not see the arrow.
func (l feedList) Sorted(column string) string {
	return map[string]string{" ↑": "ascending", " ↓": "descending"}[l.Arrow(column)]
}

// labelOf says where the data comes from: the format, where data came without a name.
func labelOf(f client.DataFeed) string {
	var source struct {
		Format string `json:"format"`
	}
	_ = json.Unmarshal(f.Source, &source)
	return cmp.Or(f.SourceLabel, source.Format)
}

func rowOf(f client.DataFeed) feedRow {
	f.SourceLabel = labelOf(f)
	return feedRow{DataFeed: f, Kind: f.Type.Kind().Title, Ticks: ticks(f.RecentRefreshes), Trouble: troubleOf(f)}
}

// tickedRefreshes is how many refreshes have a tick.
const tickedRefreshes = 30

// ticks draw what came of the last refreshes: a tall bar is new data, a short one none, and one
// below the line a failure.
func ticks(recent []string) template.HTML {
	counts := make(map[string]int)
	var b strings.Builder
	left := (tickedRefreshes - len(recent)) * 3
	fmt.Fprintf(&b, `<line x1="0" x2="%d" y1="14.5" y2="14.5"/>`, max(left-1, 0))
	for i, came := range recent {
		counts[came]++
		y, height := 3, 12
		switch came {
		case "unchanged":
			y, height = 10, 5
		case "failed":
			y, height = 16, 6
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="2" height="%d"/>`, template.HTMLEscapeString(came), left+i*3, y, height)
	}
	var words []string
	for _, came := range []string{"changed", "unchanged", "failed", "running"} {
		if counts[came] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[came], came))
		}
	}
	text := cmp.Or(strings.Join(words, ", "), "none yet")
	return template.HTML(`<svg class="ticks30" width="90" height="22" role="img" aria-label="Last refreshes: ` + text + `"><title>` + text + `</title>` + b.String() + `</svg>`)
}

func troubleOf(f client.DataFeed) *trouble {
	if f.LastError == nil {
		return nil
	}
	t := trouble{What: strings.TrimSuffix(f.LastError.Title, ".") + ".", More: f.LastError.Detail}
	if f.Failures > 1 {
		t.More += " Failed " + number(f.Failures) + " times in a row."
	}
	if f.Version > 0 {
		t.More += " Version " + number(f.Version) + " stays readable."
	}
	switch f.State {
	case feedmill.FeedFailed:
		if feedState(f) == "cancelled" {
			return nil
		}
		t.Tone, t.Action, t.Do = "bad", "Refresh now", "refresh"
	case feedmill.FeedAuthRequired:
		t.Tone, t.Action, t.Do = "warn", feedHead{DataFeed: f}.Credential(), "credential"
	case feedmill.FeedPaused:
		if f.PausedReason != "failures" {
			return nil
		}
		t.Tone, t.Action, t.Do = "warn", "Resume", "resume"
		t.What, t.More = "Paused after "+number(f.Failures)+" failures in a row.", "The last one: "+t.More
	default:
		return nil
	}
	return &t
}

package ui

import (
	"cmp"
	"encoding/json"
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
	// Total, Rows and Bytes are of all feeds, and Counts those in each state.
	Total       int
	Rows, Bytes int64
	Counts      []stateCount
	Query       string
	State       string
	Sort        string
}

type stateCount struct {
	State string
	Count int
}

type feedRow struct {
	client.DataFeed
	Kind, Label string
	Ticks       template.HTML
	Trouble     *trouble
}

// trouble is the sentence below a feed that somebody should look at.
type trouble struct{ Tone, What, More, Action, Do string }

// listedFeeds is how many feeds the list shows at most.
const listedFeeds = 500

// feedStates are those that the list can be filtered by.
var feedStates = []feedmill.FeedState{
	feedmill.FeedReady, feedmill.FeedRefreshing, feedmill.FeedFailed, feedmill.FeedPaused, feedmill.FeedAuthRequired, feedmill.FeedPending,
}

func showFeeds(v *visit) error {
	q := v.r.URL.Query()
	list := feedList{Query: strings.TrimSpace(q.Get("q")), State: q.Get("state"), Sort: cmp.Or(q.Get("sort"), "name")}
	counts := make(map[feedmill.FeedState]int)
	v.api.PageSize = listedFeeds
	for f, err := range v.api.DataFeeds(v.r.Context()) {
		if err != nil {
			return err
		}
		list.Total++
		list.Rows += f.RowCount
		list.Bytes += f.ByteSize
		counts[f.State]++
		row := rowOf(f)
		if (list.State == "" || list.State == string(f.State)) && matches(row, list.Query) && len(list.Feeds) < listedFeeds {
			list.Feeds = append(list.Feeds, row)
		}
	}
	for _, s := range feedStates {
		if counts[s] > 0 {
			list.Counts = append(list.Counts, stateCount{string(s), counts[s]})
		}
	}
	slices.SortStableFunc(list.Feeds, feedOrder(list.Sort))
	if list.Total == 0 {
		return v.render(http.StatusOK, "feeds_empty", "Feeds", nil)
	}
	return v.render(http.StatusOK, "feeds", "Feeds", list)
}

func feedOrder(by string) func(a, b feedRow) int {
	name, descending := strings.CutPrefix(by, "-")
	order := map[string]func(a, b feedRow) int{
		"rows":    func(a, b feedRow) int { return cmp.Compare(a.RowCount, b.RowCount) },
		"size":    func(a, b feedRow) int { return cmp.Compare(a.ByteSize, b.ByteSize) },
		"updated": func(a, b feedRow) int { return a.UpdatedAt.Compare(b.UpdatedAt) },
	}[name]
	if order == nil {
		order = func(a, b feedRow) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) }
	}
	if descending {
		return func(a, b feedRow) int { return order(b, a) }
	}
	return order
}

func matches(f feedRow, query string) bool {
	query = strings.ToLower(query)
	return strings.Contains(strings.ToLower(f.Name), query) || strings.Contains(strings.ToLower(f.Label), query)
}

// kinds are what people call the types of feeds.
var kinds = map[feedmill.FeedType]string{feedmill.FeedUpload: "Upload", feedmill.FeedREST: "REST", feedmill.FeedQuery: "Query"}

func rowOf(f client.DataFeed) feedRow {
	return feedRow{DataFeed: f, Kind: kinds[f.Type], Label: sourceLabel(f), Trouble: troubleOf(f)}
}

// sourceLabel says where the data comes from, in a few words.
func sourceLabel(f client.DataFeed) string {
	var spec struct {
		FileName    string `json:"fileName"`
		Format      string `json:"format"`
		ServiceName string `json:"serviceName"`
		ViewName    string `json:"viewName"`
		Request     struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	_ = json.Unmarshal(f.Source, &spec)
	switch {
	case spec.Request.URL != "":
		if u, err := url.Parse(spec.Request.URL); err == nil && u.Host != "" {
			return u.Host + u.Path
		}
		return spec.Request.URL
	case spec.ServiceName != "":
		return spec.ServiceName + " · " + spec.ViewName
	}
	return cmp.Or(spec.FileName, spec.Format)
}

func troubleOf(f client.DataFeed) *trouble {
	if f.LastError == nil {
		return nil
	}
	t := trouble{What: strings.TrimSuffix(f.LastError.Title, ".") + ".", More: f.LastError.Detail}
	switch f.State {
	case feedmill.FeedFailed:
		t.Tone, t.Action, t.Do = "bad", "Refresh now", "refresh"
	case feedmill.FeedAuthRequired:
		t.Tone, t.Action, t.Do = "warn", "Refresh now", "refresh"
	case feedmill.FeedPaused:
		t.Tone, t.Action, t.Do = "warn", "Resume", "resume"
	default:
		return nil
	}
	return &t
}

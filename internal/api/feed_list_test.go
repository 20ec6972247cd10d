package api

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestListOfFeeds(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"banana", "Apple", "cherry", "apple"} {
		state := feedmill.RefreshSucceeded
		if i%2 == 1 {
			state = feedmill.RefreshFailed
		}
		w.feeds.add(t, feedmill.FeedREST, state, func(f *feedmill.Feed) { f.Name = name })
	}
	names := func(query string) (all string, total, counts string) {
		t.Helper()
		path := "/data_feeds?limit=2&" + query
		for path != "" {
			a := w.do(t, "GET", path, "")
			var feeds []struct{ Name string }
			if err := json.Unmarshal(a.Body.Bytes(), &feeds); err != nil || a.Code != 200 {
				t.Fatalf("%s: %d %s", path, a.Code, a.Body)
			}
			for _, f := range feeds {
				all += f.Name + " "
			}
			total, counts, path = a.Header().Get("X-Total-Count"), a.Header().Get("X-Counts"), ""
			if m := regexp.MustCompile(`<(.*)>; rel="next"`).FindStringSubmatch(a.Header().Get("Link")); m != nil {
				path = m[1]
			}
		}
		return strings.TrimSpace(all), total, counts
	}
	for _, test := range []struct{ query, names, total, counts string }{
		{"", "apple cherry Apple banana", "4", ""},
		{"sort=name&counts=state", "Apple apple banana cherry", "4", "ready=2, failed=2"},
		{"sort=-name", "cherry banana apple Apple", "4", ""},
		{"sort=createdAt&state=failed&counts=state", "Apple apple", "2", "ready=2, failed=2"},
		{"q=APP&sort=name&counts=state", "Apple apple", "2", "failed=2"},
		{"q=shop.example%2ford&state=ready,paused&sort=name", "banana cherry", "2", ""},
		{"q=nothing&counts=state", "", "0", ""},
	} {
		if got, total, counts := names(test.query); got != test.names || total != test.total || counts != test.counts {
			t.Errorf("%s has %q, %s in all, %q; want %q, %s and %q", test.query, got, total, counts, test.names, test.total, test.counts)
		}
	}
	page := w.do(t, "GET", "/data_feeds?limit=1&sort=rowCount", "").Header().Get("Link")
	cursor := regexp.MustCompile(`cursor=([^&>]*)`).FindStringSubmatch(page)[1]
	for query, parameter := range map[string]string{
		"state=ready,broken":                  "state",
		"state=":                              "state",
		"sort=size":                           "sort",
		"sort=--name":                         "sort",
		"counts=type":                         "counts",
		"q=" + strings.Repeat("x", 201):       "q",
		"cursor=" + cursor:                    "cursor", // of another order
		"sort=-rowCount&cursor=" + cursor:     "cursor",
		"sort=rowCount&cursor=" + cursor[:10]: "cursor",
		"sort=rowCount&cursor=" + url.QueryEscape("AAAA!"): "cursor",
	} {
		a := w.do(t, "GET", "/data_feeds?"+query, "")
		if p := readProblem(t, a); p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Parameter != parameter {
			t.Errorf("%s is answered %+v", query, p)
		}
	}
}

func TestRecordSaysHowAFeedDoes(t *testing.T) {
	w := newWorld(t)
	f := w.feeds.add(t, feedmill.FeedREST, feedmill.RefreshFailed, func(f *feedmill.Feed) {
		f.State, f.Failures, f.RowCount = feedmill.FeedPaused, feedmill.MaxFailures, 200
	})
	r := *f.LastRefresh
	r.ID, r.State, r.Trigger, r.Stage, r.RowsIn = feedmill.NewID(feedmill.PrefixRefresh), feedmill.RefreshRunning, "key_1", feedmill.StageModelling, 50
	w.feeds.record(t, r)
	body := w.do(t, "GET", feedURL(f.ID), "").Body.String()
	for _, part := range []string{
		`"failures":20`, `"pausedReason":"failures"`, `"lastSuccessAt":null`, `"recentRefreshes":["failed","running"]`, `"sourceLabel":"shop.example/orders"`,
		`"trigger":"key_1"`, `"stage":"modelling"`, `"progress":0.25`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("%s is not in %s", part, body)
		}
	}
}

package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// * is two subscriptions: the events of data feeds, and all others.
func TestSubscribeToEveryEvent(t *testing.T) {
	w := newWorld(t)
	feed := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded).ID
	r := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/hook","events":["*"],"filters":{"resourceId":"`+string(feed)+`"}}`)
	var made []struct {
		ID      feedmill.ID
		Events  []string
		Filters struct{ ResourceID string }
	}
	if err := json.Unmarshal(r.Body.Bytes(), &made, json.MatchCaseInsensitiveNames(true)); err != nil || r.Code != 201 || len(made) != 2 {
		t.Fatalf("%d: %s", r.Code, r.Body)
	}
	sources, others := made[0], made[1]
	if !slices.Equal(sources.Events, []string{"datafeed.source.*"}) || !slices.Equal(others.Events, []string{"*"}) || sources.Filters.ResourceID != string(feed) || others.Filters.ResourceID != "" {
		t.Errorf("%s", r.Body)
	}
	for id, c := range map[feedmill.ID]struct{ patch, want string }{
		sources.ID: {`{"events":["datafeed.source.refreshed"]}`, `"events":["datafeed.source.*"]`},
		others.ID:  {`{"events":["tag.*"]}`, `"events":["*"]`},
	} {
		path := "/events/subscriptions/" + string(id)
		if r := w.do(t, "PATCH", path, c.patch); r.Code != 200 {
			t.Errorf("%s: %d: %s", c.patch, r.Code, r.Body)
		}
		if r := w.do(t, "PATCH", path, `{"events":["*"]}`); r.Code != 200 || !strings.Contains(r.Body.String(), c.want) {
			t.Errorf("%d: %s", r.Code, r.Body)
		}
	}
	if r := w.do(t, "PATCH", "/events/subscriptions/"+string(others.ID), `{"events":["datafeed.source.*"]}`); r.Code != http.StatusConflict {
		t.Errorf("moved to the other half: %d: %s", r.Code, r.Body)
	}
	for _, events := range []string{`["*","tag.*"]`, `["tag.*","*"]`, `["**"]`, `["*.*"]`, `["metric.created*"]`} {
		if r := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/hook","events":`+events+`}`); r.Code != 400 {
			t.Errorf("%s: %d: %s", events, r.Code, r.Body)
		}
	}
	if r := w.do(t, "POST", "/events/subscriptions", `{"url":"https://example.com/hook","events":["*","*"]}`); r.Code != 201 {
		t.Errorf("the same name twice: %d: %s", r.Code, r.Body)
	}
	if r := w.do(t, "POST", "/events/listeners", `{"events":["*"]}`); r.Code != 201 || !strings.Contains(r.Body.String(), `"events":["datafeed.source.*","*"]`) {
		t.Errorf("listener: %d: %s", r.Code, r.Body)
	}
	for name, matches := range map[string]bool{"tag.created": true, "datafeed.source.refreshed": true} {
		r := w.do(t, "POST", "/events/subscriptions/preview", `{"subscription":{"events":["*"]},"event":{"type":"`+name+`","data":{}}}`)
		if got := strings.Contains(r.Body.String(), `"matches":true`); r.Code != 200 || got != matches {
			t.Errorf("preview of %s: %d: %s", name, r.Code, r.Body)
		}
	}
}

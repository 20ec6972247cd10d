package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

func TestFeedIsRefreshed(t *testing.T) {
	w := newWorld(t)
	f := w.feeds.add(t, feedmill.FeedREST, feedmill.RefreshSucceeded)
	a := ask(w.Server, "POST", feedURL(f.ID)+"/refresh", "", "Idempotency-Key", "k")
	if a.Code != http.StatusAccepted || !strings.HasPrefix(a.Header().Get("Location"), feedURL(f.ID)+"/refreshes/rfr_") || !strings.Contains(a.Body.String(), `"state":"pending"`) {
		t.Fatalf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	again := ask(w.Server, "POST", feedURL(f.ID)+"/refresh", "", "Idempotency-Key", "k")
	if again.Code != a.Code || again.Body.String() != a.Body.String() || again.Header().Get("Location") != a.Header().Get("Location") {
		t.Errorf("again: %d %s", again.Code, again.Body)
	}

	location := a.Header().Get("Location")
	_, err := w.feeds.change(t.Context(), w.workspace, f.ID, func(c *feedmill.SourceChange) error {
		c.Traces = []feedmill.Trace{{Refresh: c.Feeds[0].LastRefresh.ID, Feed: f.ID, Requests: []feedmill.TracedRequest{
			{Method: "GET", URL: "https://shop.example/orders?key=***", At: now(), Status: 200, Bytes: 9, DurationMS: 1.5, Rows: 2, Page: 1, Attempt: 1},
		}}}
		return nil
	})
	must(t, err)
	a = ask(w.Server, "GET", location, "")
	for _, part := range []string{`"trace":[{"method":"GET"`, `"status":200,"bytes":9,"durationMs":1.5,"rows":2,"page":1,"attempt":1,"waitedMs":0,"waitedFor":null,"error":null,"request":null,"excerpt":null}]`} {
		if !strings.Contains(a.Body.String(), part) {
			t.Errorf("%s is not in %s", part, a.Body)
		}
	}

	// What waits or runs can be cancelled, once.
	a = ask(w.Server, "DELETE", location, "")
	if a.Code != 200 || !strings.Contains(a.Body.String(), `"state":"failed"`) || strings.Contains(a.Body.String(), `"trace"`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if p := readProblem(t, ask(w.Server, "DELETE", location, "")); p.Status != 409 || p.Type != "/problems/refresh-ended" {
		t.Errorf("%+v", p)
	}
}

func TestFeedIsPausedAndResumed(t *testing.T) {
	w := newWorld(t)
	f := w.feeds.add(t, feedmill.FeedREST, feedmill.RefreshSucceeded)
	for _, c := range []struct{ verb, state string }{{"pause", "paused"}, {"resume", "ready"}, {"pause", "paused"}} {
		a := ask(w.Server, "POST", feedURL(f.ID)+"/"+c.verb, "", "Idempotency-Key", c.verb)
		if a.Code != 200 || !strings.Contains(a.Body.String(), `"state":"`+c.state+`"`) {
			t.Errorf("%s: %d %s", c.verb, a.Code, a.Body)
		}
	}
	// The second pause was the first one, repeated.
	if got, err := w.db.Feed(t.Context(), w.workspace, f.ID); err != nil || got.State != feedmill.FeedReady {
		t.Errorf("the feed is %s, %v", got.State, err)
	}
}

func TestUploadFetchesNothing(t *testing.T) {
	w := newWorld(t)
	f := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded)
	for _, verb := range []string{"refresh", "pause", "resume"} {
		if p := readProblem(t, ask(w.Server, "POST", feedURL(f.ID)+"/"+verb, "")); p.Status != 409 || !strings.Contains(p.Detail, "PUT "+feedURL(f.ID)+"/data") {
			t.Errorf("%s: %+v", verb, p)
		}
		if a := ask(w.Server, "POST", "/data_feeds/df_00000000000000000000000000/"+verb, ""); a.Code != 404 {
			t.Errorf("%s: %d", verb, a.Code)
		}
	}
}

func TestScheduleIsShown(t *testing.T) {
	for want, s := range map[string]feedmill.Schedule{
		`null`:            {},
		`{"every":"15m"}`: {Every: 15 * time.Minute},
		`{"cron":"0 6 * * 1-5","timezone":"Europe/Paris"}`: {Cron: "0 6 * * 1-5", Timezone: "Europe/Paris"},
		`{"cron":"0 6 * * *","timezone":"UTC"}`:            {Cron: "0 6 * * *"},
	} {
		if got := string(jsonAnswer(200, viewSchedule(s)).body); got != want {
			t.Errorf("%+v is shown as %s, want %s", s, got, want)
		}
	}
}

func TestOutcomeIsShown(t *testing.T) {
	for _, c := range []struct {
		refresh feedmill.Refresh
		want    string
	}{
		{feedmill.Refresh{State: feedmill.RefreshRunning}, `"outcome":null`},
		{feedmill.Refresh{State: feedmill.RefreshFailed}, `"outcome":null`},
		{feedmill.Refresh{State: feedmill.RefreshSucceeded}, `"outcome":"changed"`},
		{feedmill.Refresh{State: feedmill.RefreshSucceeded, Unchanged: true}, `"outcome":"unchanged"`},
	} {
		if got := string(jsonAnswer(200, viewRefresh(c.refresh)).body); !strings.Contains(got, c.want) {
			t.Errorf("%+v is shown as %s", c.refresh, got)
		}
	}
}

package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

func TestPreferredWait(t *testing.T) {
	for _, c := range []struct {
		header []string
		want   time.Duration
		ok     bool
	}{
		{nil, 0, false},
		{[]string{"wait=30"}, 30 * time.Second, true},
		{[]string{"WAIT = 5"}, 5 * time.Second, true},
		{[]string{"wait=0"}, 0, true},
		{[]string{"wait=3600"}, maxWait, true},
		{[]string{"respond-async, wait=10; x=1"}, 10 * time.Second, true},
		{[]string{"return=minimal", "wait=7"}, 7 * time.Second, true},
		{[]string{`foo="a, wait=9", wait=4, wait=8`}, 4 * time.Second, true},
		{[]string{`foo="a\", wait=9"`}, 0, false},
		{[]string{"wait=-1"}, 0, false},
		{[]string{"wait=soon"}, 0, false},
		{[]string{"wait"}, 0, false},
		{[]string{"await=5"}, 0, false},
	} {
		got, ok := preferredWait(http.Header{"Prefer": c.header})
		if got != c.want || ok != c.ok {
			t.Errorf("%q is %v %v", c.header, got, ok)
		}
	}
}

func TestFeedIsAwaited(t *testing.T) {
	ask := func(w *world, header ...string) chan *httptest.ResponseRecorder {
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- ask(w.Server, "POST", "/data_feeds?type=rest", restBody, header...) }()
		synctest.Wait()
		return answered
	}
	check := func(t *testing.T, a *httptest.ResponseRecorder, state feedmill.FeedState, applied string) {
		t.Helper()
		if a.Code != 201 || !strings.Contains(a.Body.String(), `"state":"`+string(state)+`","stale"`) || a.Header().Get("Preference-Applied") != applied {
			t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
		}
	}
	t.Run("until it is ready", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			answered := ask(w, "Prefer", "wait=30")
			time.Sleep(29 * time.Second)
			if len(answered) > 0 {
				t.Fatal("the answer did not wait")
			}
			close(w.feeds.ready)
			check(t, <-answered, feedmill.FeedReady, "wait=30")
		})
	})
	t.Run("for as long as may be", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, begun := newWorld(t), time.Now()
			check(t, <-ask(w, "Prefer", "wait=600"), feedmill.FeedRefreshing, "wait=60")
			if took := time.Since(begun); took != maxWait {
				t.Errorf("it waited %v", took)
			}
		})
	})
	t.Run("with a key the answer is what a repetition gets", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			answered := ask(w, "Prefer", "wait=30", "Idempotency-Key", "k")
			close(w.feeds.ready)
			first := <-answered
			check(t, first, feedmill.FeedRefreshing, "wait=30")
			again := <-ask(w, "Prefer", "wait=30", "Idempotency-Key", "k")
			check(t, again, feedmill.FeedRefreshing, "")
			if first.Body.String() != again.Body.String() || len(w.feeds.made) != 1 {
				t.Errorf("%s\n%s", first.Body, again.Body)
			}
		})
	})
	t.Run("until the server stops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, begun := newWorld(t), time.Now()
			answered := ask(w, "Prefer", "wait=30")
			w.Stop()
			w.Stop()
			check(t, <-answered, feedmill.FeedRefreshing, "wait=30")
			if took := time.Since(begun); took != 0 {
				t.Errorf("it waited %v", took)
			}
		})
	})
}

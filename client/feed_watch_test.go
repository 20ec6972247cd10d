package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// connections are what a server answers, one after another, to whoever watches.
// A body that ends with a dash goes on in silence.
type connections struct {
	bodies []string
	opened []time.Duration
	begun  time.Time
}

func (c *connections) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Accept") != "text/event-stream" || r.URL.Path != "/data_feeds/df_1/refreshes/rfr_1" {
		return nil, fmt.Errorf("asked for %s as %q", r.URL, r.Header.Get("Accept"))
	}
	c.opened = append(c.opened, time.Since(c.begun))
	body := c.bodies[min(len(c.opened), len(c.bodies))-1]
	if status, ok := strings.CutPrefix(body, "status "); ok {
		code := 0
		fmt.Sscan(status, &code)
		return &http.Response{StatusCode: code, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(`{"type":"/problems/x","title":"x"}`))}, nil
	}
	stream := io.Reader(strings.NewReader(body))
	if text, silent := strings.CutSuffix(body, "-"); silent {
		stream = io.MultiReader(strings.NewReader(text), silence{r.Context()})
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(stream)}, nil
}

func event(name string, state feedmill.RefreshState, pages int) string {
	return fmt.Sprintf("event: %s\ndata: {\"id\":\"rfr_1\",\"state\":%q,\"pages\":%d,\"outcome\":null}\n\n", name, state, pages)
}

func TestWatchRefresh(t *testing.T) {
	running := func(pages int) string { return event("progress", feedmill.RefreshRunning, pages) }
	done := event("done", feedmill.RefreshSucceeded, 9)
	for _, c := range []struct {
		name   string
		bodies []string
		want   string
		opened int
		fails  func(error) bool
	}{
		{name: "to its end", bodies: []string{running(1) + ": keep-alive\n\n" + running(2) + done + running(3)}, want: "1 2 9", opened: 1},
		{name: "over several connections", bodies: []string{running(1), running(2), running(3), running(4), done}, want: "1 2 3 4 9", opened: 5},
		{name: "through silence", bodies: []string{running(1) + "-", done}, want: "1 9", opened: 2},
		{name: "of a server that is away for a moment", bodies: []string{"status 503", done}, want: "9", opened: 2},
		{
			name: "that nothing comes of", bodies: []string{running(1), ""}, want: "1", opened: 3,
			fails: func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
		},
		{
			name: "that is gone", bodies: []string{running(1), "status 404"}, want: "1", opened: 2,
			fails: func(err error) bool { return errors.Is(err, feedmill.ErrNotFound) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &connections{bodies: c.bodies, begun: time.Now()}
				to := client.New("http://server", "key")
				to.HTTP.Transport = server
				var pages []string
				var failed error
				for r, err := range to.WatchRefresh(t.Context(), "df_1", "rfr_1") {
					if failed = err; err == nil {
						pages = append(pages, fmt.Sprint(r.Pages))
					}
				}
				if got := strings.Join(pages, " "); got != c.want || len(server.opened) != c.opened {
					t.Errorf("saw %s over %v, want %s", got, server.opened, c.want)
				}
				if (failed != nil) != (c.fails != nil) || failed != nil && !c.fails(failed) {
					t.Errorf("the error is %v", failed)
				}
			})
		})
	}
}

func TestWatchRefreshEndsWithWhoWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &connections{bodies: []string{event("progress", feedmill.RefreshRunning, 1) + "-"}, begun: time.Now()}
		to := client.New("http://server", "key")
		to.HTTP.Transport = server
		for range to.WatchRefresh(t.Context(), "df_1", "rfr_1") {
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var failed error
		for _, err := range to.WatchRefresh(ctx, "df_1", "rfr_1") {
			failed = err
			cancel()
		}
		if !errors.Is(failed, context.Canceled) || len(server.opened) != 2 {
			t.Errorf("%v over %v", failed, server.opened)
		}
	})
}

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill/client"
)

// exchange is a server with one listener, whose streams a test writes.
type exchange struct {
	// streams are what each connection brings; the last goes on in silence.
	streams []string
	// refuse is how many requests with answers get a 503 first.
	refuse int
	// gone makes the listener vanish before connection number gone.
	gone int

	mu       sync.Mutex
	opened   []time.Time
	answered []client.ListenerAnswer
	deleted  int
}

func (e *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	respond := func(status int, body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Request: r, Body: io.NopCloser(body)}, nil
	}
	switch {
	case r.Method == http.MethodDelete:
		e.deleted++
		return respond(204, http.NoBody)
	case strings.HasSuffix(r.URL.Path, "/answers"):
		if e.refuse > 0 {
			e.refuse--
			return respond(503, http.NoBody)
		}
		var answers []client.ListenerAnswer
		if err := json.NewDecoder(r.Body).Decode(&answers); err != nil {
			return nil, err
		}
		e.answered = append(e.answered, answers...)
		return respond(204, http.NoBody)
	case strings.HasSuffix(r.URL.Path, "/stream"):
		e.opened = append(e.opened, time.Now())
		n := len(e.opened)
		if n == e.gone {
			return respond(404, strings.NewReader(`{"type":"/problems/not-found","title":"no","status":404}`))
		}
		text := e.streams[min(n, len(e.streams))-1]
		if n < len(e.streams) || strings.Contains(text, `"end"`) {
			return respond(200, strings.NewReader(text))
		}
		return respond(200, io.MultiReader(strings.NewReader(text), silence{r.Context()}))
	}
	return respond(201, strings.NewReader(`{"data":{"id":"sub_1","signingSecret":"whsec_1"}}`))
}

// silence is what comes of a connection over which nothing comes.
type silence struct{ ctx context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func delivered(id string, attempt int) string {
	return fmt.Sprintf(`{"kind":"delivery","deliveryId":%q,"attempt":%d,"body":"{}"}`+"\n", id, attempt)
}

const heartbeat = `{"kind":"heartbeat","expiresAt":"2026-11-15T12:00:00.000Z"}` + "\n"

// hear listens to an exchange for a time and returns what was handled.
func hear(t *testing.T, e *exchange, span time.Duration, answer client.ListenerAnswer) (handled, notes []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	c := client.New("http://server", "key")
	c.HTTP.Transport = e
	var mu sync.Mutex
	err = c.Listen(ctx, client.NewListener{Events: []string{"metric.*"}}, client.Listening{
		Opened: func(l client.Listener) { notes = append(notes, l.SigningSecret) },
		Handle: func(_ context.Context, d client.ListenerDelivery) client.ListenerAnswer {
			mu.Lock()
			defer mu.Unlock()
			handled = append(handled, fmt.Sprint(d.DeliveryID, " ", d.Attempt))
			return answer
		},
		Lost:    func(error, time.Duration) { notes = append(notes, "lost") },
		Resumed: func() { notes = append(notes, "resumed") },
	})
	slices.Sort(handled)
	return handled, notes, err
}

func TestListenHandlesOnceAndAnswersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &exchange{refuse: 5, streams: []string{
			heartbeat + delivered("a", 1) + delivered("b", 1),
			heartbeat + delivered("a", 1) + delivered("a", 1) + delivered("c", 1) + `{"kind":"deli`,
			heartbeat + delivered("b", 1),
			heartbeat + delivered("b", 2),
		}}
		handled, notes, err := hear(t, e, 30*time.Second, client.ListenerAnswer{Status: 200})
		if err != nil {
			t.Error(err)
		}
		if want := []string{"a 1", "b 1", "b 2", "c 1"}; !slices.Equal(handled, want) {
			t.Errorf("handled %q, want %q", handled, want)
		}
		if want := []string{"whsec_1", "lost", "resumed", "lost", "resumed", "lost", "resumed"}; !slices.Equal(notes, want) {
			t.Errorf("was told %q, want %q", notes, want)
		}
		heard := make(map[string]bool)
		for _, a := range e.answered {
			heard[fmt.Sprint(a.DeliveryID, " ", a.Attempt)] = true
		}
		if len(heard) != 4 {
			t.Errorf("the server has heard of %v, want of all 4 attempts", heard)
		}
		if e.deleted != 1 {
			t.Errorf("the listener was deleted %d times, want once", e.deleted)
		}
	})
}

func TestListenAnswersAgainWhatTheServerHasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &exchange{streams: []string{heartbeat + delivered("a", 1), heartbeat + delivered("a", 1)}}
		handled, _, err := hear(t, e, 10*time.Second, client.ListenerAnswer{Status: 200})
		if err != nil || len(handled) != 1 || len(e.answered) != 2 {
			t.Errorf("handled %q and answered %v, %v; want to handle once and answer twice", handled, e.answered, err)
		}
	})
}

func TestListenEnds(t *testing.T) {
	for name, e := range map[string]*exchange{
		"removed":  {streams: []string{heartbeat + `{"kind":"end","reason":"removed"}`}},
		"expired":  {streams: []string{heartbeat + `{"kind":"end","reason":"expired"}`}},
		"replaced": {streams: []string{heartbeat + `{"kind":"end","reason":"replaced"}`}},
		"gone":     {streams: []string{heartbeat}, gone: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, err := hear(t, e, time.Hour, client.ListenerAnswer{Status: 200})
				if !errors.Is(err, client.ErrListenerEnded) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}

func TestListenConnectsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown := heartbeat + `{"kind":"end","reason":"shutdown"}`
		e := &exchange{streams: []string{shutdown, shutdown, "", "", "", "", "", "", "", "", "", heartbeat}}
		begun := time.Now()
		if _, _, err := hear(t, e, 2*time.Minute, client.ListenerAnswer{Status: 200}); err != nil {
			t.Error(err)
		}
		if len(e.opened) < 12 {
			t.Fatalf("%d connections were made, want 12 and more", len(e.opened))
		}
		for i := range 11 {
			if pause := e.opened[i+1].Sub(e.opened[i]); pause > 10*time.Second || pause < 125*time.Millisecond {
				t.Errorf("the pause after connection %d is %v", i+1, pause)
			}
		}
		if last := e.opened[11].Sub(begun); last > time.Minute {
			t.Errorf("the server is back after %v", last)
		}
		// A connection that says nothing for 45 s is taken for dead.
		if len(e.opened) < 13 || e.opened[12].Sub(e.opened[11]) < 45*time.Second || e.opened[12].Sub(e.opened[11]) > 56*time.Second {
			t.Errorf("the connections were made at %v, want another one about 45 s after the one that is silent", e.opened)
		}
	})
}

func TestListenAnswersWhatTheServerTakes(t *testing.T) {
	for _, test := range []struct{ given, want client.ListenerAnswer }{
		{client.ListenerAnswer{Status: 204, Duration: 1.5}, client.ListenerAnswer{Status: 204, Duration: 1.5}},
		{client.ListenerAnswer{}, client.ListenerAnswer{Error: "the handler returned status 0"}},
		{client.ListenerAnswer{Status: 999}, client.ListenerAnswer{Error: "the handler returned status 999"}},
		{client.ListenerAnswer{Error: "a\nb\xff", Duration: -1}, client.ListenerAnswer{Error: "a b\ufffd"}},
		{client.ListenerAnswer{Error: strings.Repeat("é", 501)}, client.ListenerAnswer{Error: strings.Repeat("é", 500)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := &exchange{streams: []string{delivered("a", 1)}}
			if _, _, err := hear(t, e, time.Second, test.given); err != nil {
				t.Error(err)
			}
			test.want.DeliveryID, test.want.Attempt = "a", 1
			if len(e.answered) != 1 || e.answered[0] != test.want {
				t.Errorf("%v is answered as %v, want %v", test.given, e.answered, test.want)
			}
		})
	}
}

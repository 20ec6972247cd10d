package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// line is a network whose answers are given one after the other, the last of
// them for ever, and that keeps what was asked and when.
type line struct {
	answers []answer
	asked   []*http.Request
	bodies  []string
	at      []time.Time
}

type answer struct {
	status     int
	retryAfter string
	body       string
	// broken is why no answer comes; cut says that it breaks off.
	broken error
	cut    bool
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.asked, l.at = append(l.asked, r), append(l.at, time.Now())
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	l.bodies = append(l.bodies, body)
	a := l.answers[min(len(l.asked), len(l.answers))-1]
	if a.broken != nil {
		return nil, a.broken
	}
	resp := &http.Response{StatusCode: a.status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(a.body))}
	if a.retryAfter != "" {
		resp.Header.Set("Retry-After", a.retryAfter)
	}
	if a.cut {
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(a.body), cutReader{}))
	}
	return resp, nil
}

type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func over(answers ...answer) (*client.Client, *line) {
	l := &line{answers: answers}
	c := client.New("http://feedmill.test", "fm_a-key")
	c.HTTP.Transport = l
	return c, l
}

const inProgress = `{"type":"/problems/idempotency-in-progress","title":"Conflict","status":409,"detail":"Wait."}`

var (
	refused = answer{broken: syscall.ECONNREFUSED}
	fine    = answer{status: 200, body: `{"data":{"id":"ws_1"}}`}
)

func TestRepeats(t *testing.T) {
	post := func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateWorkspace(ctx, "w")
		return err
	}
	get := func(ctx context.Context, c *client.Client) error {
		_, err := c.Event(ctx, "evt_1")
		return err
	}
	remove := func(ctx context.Context, c *client.Client) error { return c.RevokeKey(ctx, "key_1") }
	change := func(ctx context.Context, c *client.Client) error {
		_, err := c.ChangeSubscription(ctx, "sub_1", client.SubscriptionChange{})
		return err
	}
	unnamed := func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateWorkspace(ctx, "w", client.IdempotencyKey(""))
		return err
	}
	for _, test := range []struct {
		name    string
		do      func(context.Context, *client.Client) error
		answers []answer
		tries   int
		fails   bool
	}{
		{"a good answer", get, []answer{fine}, 1, false},
		{"GET without a connection", get, []answer{refused, refused, fine}, 3, false},
		{"DELETE without a connection", remove, []answer{refused, {status: 204}}, 2, false},
		{"POST without a connection", post, []answer{refused, fine}, 2, false},
		{"POST without a name", unnamed, []answer{refused, fine}, 1, true},
		{"PATCH without a connection", change, []answer{refused, fine}, 1, true},
		{"no more than three", get, []answer{refused, refused, refused, fine}, 3, true},
		{"too many requests", get, []answer{{status: 429}, fine}, 2, false},
		{"unavailable", post, []answer{{status: 503}, fine}, 2, false},
		{"an answer that breaks off", post, []answer{{status: 201, body: `{"data"`, cut: true}, fine}, 2, false},
		{"a fault of the server", get, []answer{{status: 500}, fine}, 1, true},
		{"a refusal", post, []answer{{status: 400}, fine}, 1, true},
		{"still at work on another's request", post, []answer{{status: 409, body: inProgress}, fine}, 1, true},
		{"still at work on our first try", post, []answer{refused, {status: 409, body: inProgress}, fine}, 3, false},
		{"another conflict", post, []answer{refused, {status: 409}, fine}, 2, true},
		{"a certificate of somebody else", get, []answer{{broken: &tls.CertificateVerificationError{Err: io.EOF}}, fine}, 1, true},
		{"later than anybody waits", get, []answer{{status: 503, retryAfter: "3600"}, fine}, 1, true},
		{"health", func(ctx context.Context, c *client.Client) error { return c.Health(ctx) }, []answer{{status: 503}, fine}, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, l := over(test.answers...)
				err := test.do(t.Context(), c)
				if (err != nil) != test.fails || len(l.asked) != test.tries {
					t.Errorf("after %d tries the error is %v; want %d tries, and an error: %v", len(l.asked), err, test.tries, test.fails)
				}
			})
		})
	}
}

func TestTriesOfOneCallAreTheSameRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := over(refused, answer{status: 503}, fine)
		for range 2 {
			if _, err := c.CreateWorkspace(t.Context(), "w"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.CreateWorkspace(t.Context(), "w", client.IdempotencyKey("mine")); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for i, r := range l.asked {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			if l.bodies[i] != `{"name":"w"}` || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("try %d has the header %v and the body %s", i+1, r.Header, l.bodies[i])
			}
		}
		if len(keys) != 5 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] || keys[2] == keys[3] || keys[4] != "mine" {
			t.Errorf("the keys are %q, want one for the three tries of the first call, another, and mine", keys)
		}
	})
}

func TestReadsHaveNoIdempotencyKey(t *testing.T) {
	c, l := over(fine)
	if _, err := c.Event(t.Context(), "evt_1"); err != nil {
		t.Fatal(err)
	}
	if key := l.asked[0].Header.Get("Idempotency-Key"); key != "" {
		t.Errorf("a GET has the key %s", key)
	}
}

func TestWaits(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer answer
		least  []time.Duration
		most   []time.Duration
	}{
		{
			"back-off", refused,
			[]time.Duration{125 * time.Millisecond, 250 * time.Millisecond},
			[]time.Duration{250 * time.Millisecond, 500 * time.Millisecond},
		},
		{"as the server says", answer{status: 503, retryAfter: "7"}, []time.Duration{7 * time.Second, 7 * time.Second}, []time.Duration{7 * time.Second, 7 * time.Second}},
		{
			// The clock of a bubble begins at midnight of this day.
			"until when the server says",
			answer{status: 429, retryAfter: "Sat, 01 Jan 2000 00:00:20 GMT"},
			[]time.Duration{20 * time.Second, 250 * time.Millisecond},
			[]time.Duration{20 * time.Second, 500 * time.Millisecond},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, l := over(test.answer)
				if _, err := c.Event(t.Context(), "evt_1"); err == nil {
					t.Fatal("there is no error")
				}
				if len(l.at) != 3 {
					t.Fatalf("it took %d tries, want 3", len(l.at))
				}
				for i := range 2 {
					if waited := l.at[i+1].Sub(l.at[i]); waited < test.least[i] || waited > test.most[i] {
						t.Errorf("before try %d the client waited %v, want %v to %v", i+2, waited, test.least[i], test.most[i])
					}
				}
			})
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, l := over(answer{status: 503, retryAfter: "5"})
		time.AfterFunc(time.Second, cancel)
		_, err := c.Event(ctx, "evt_1")
		if !errors.Is(err, context.Canceled) || !errors.Is(err, feedmill.ErrUnavailable) || len(l.asked) != 1 {
			t.Errorf("after %d tries the error is %v", len(l.asked), err)
		}
	})
	// A wait that the deadline does not allow is not begun.
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		c, _ := over(answer{status: 503, retryAfter: "5"})
		_, err := c.Event(ctx, "evt_1")
		problem, _ := errors.AsType[*client.Problem](err)
		if problem == nil || problem.RetryAfter != 5*time.Second || !problem.Temporary() || time.Since(begun) != 0 {
			t.Errorf("after %v the error is %v", time.Since(begun), err)
		}
	})
}

func TestTriesCanBeChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tries := range []int{1, 5} {
			c, l := over(refused)
			c.Tries = tries
			if _, err := c.Event(t.Context(), "evt_1"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("the error is %v", err)
			}
			if len(l.asked) != tries {
				t.Errorf("there were %d tries, want %d", len(l.asked), tries)
			}
		}
	})
}

func TestNoRequestAtAll(t *testing.T) {
	c := client.New("http://127.0.0.1:port", "")
	_, err := c.Event(t.Context(), "evt_1")
	if err == nil || !strings.Contains(err.Error(), "invalid port") {
		t.Errorf("the error is %v", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var paths []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	})
	_, err := c.Event(t.Context(), "evt_1")
	problem, _ := errors.AsType[*client.Problem](err)
	if problem == nil || problem.Status != http.StatusMovedPermanently || !slices.Equal(paths, []string{"/events/evt_1"}) {
		t.Errorf("the error is %v after requests for %v", err, paths)
	}
}

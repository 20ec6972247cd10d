package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestListenUnderFaults listens while servers are killed and restarted,
// connections are cut and the receiver is away. Every event that was
// acknowledged is shown once; it has arrived once where it is shown as good, and
// once at most where it is shown as failed; and the delivery log says the same.
func TestListenUnderFaults(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		listenUnderFaults(t, nil, 1)
	})
	t.Run("postgres with two replicas", func(t *testing.T) {
		t.Parallel()
		listenUnderFaults(t, onPostgres(pgtest.New(t)), 2)
	})
}

func listenUnderFaults(t *testing.T, env []string, replicas int) {
	w := &listenWorld{T: t, env: append(env, onLoopback...), book: newLedger(), arrived: make(map[string]int)}
	for range replicas {
		w.folders = append(w.folders, filepath.Join(t.TempDir(), "data"))
		w.servers = append(w.servers, nil)
		w.begin(len(w.servers) - 1)
	}
	sink := httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(sink.Close)
	w.out, w.in = newCable(t, w.address(0)), newCable(t, strings.TrimPrefix(sink.URL, "http://"))
	w.listen()
	stop := w.publish()
	w.goesOn(20)

	w.Log("the connection is cut")
	w.out.cut()
	w.goesOn(20)

	w.Log("the server is killed")
	w.servers[0].kill()
	w.begin(0)
	w.out.plug(w.address(0))
	w.out.cut()
	w.goesOn(20)

	w.Log("the receiver is down")
	w.in.plug("")
	w.in.cut()
	bad := w.failed()
	eventually(t, "events are shown as failed", func() bool { return w.failed() >= bad+5 })
	w.in.plug(strings.TrimPrefix(sink.URL, "http://"))
	w.goesOn(20)

	w.Log("the server is restarted")
	if replicas > 1 {
		w.out.plug(w.address(1)) // which the listener goes to meanwhile
	}
	w.servers[0].mustStop(t)
	w.begin(0)
	if replicas == 1 {
		w.out.plug(w.address(0))
	}
	w.goesOn(20)

	w.Log("receiver and connection are cut in the middle")
	w.in.cut()
	w.out.cut()
	w.goesOn(20)

	stop()
	eventually(t, "every event is shown", w.allShown)
	w.check()
}

// listenWorld is servers, a listener behind a cable, and a receiver behind
// another.
type listenWorld struct {
	*testing.T
	env      []string
	folders  []string
	servers  []*process
	out, in  *cable
	listener *process
	secret   string
	book     *ledger

	mu      sync.Mutex
	arrived map[string]int
	lines   []shownEvent // of what was printed up to read
	read    int
}

// begin starts a server and publishes to it from then on.
func (w *listenWorld) begin(i int) {
	w.Helper()
	p, err := launch(filepath.Dir(w.folders[i]), w.env, "--data="+w.folders[i])
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(p.kill)
	w.mu.Lock()
	w.servers[i] = p
	w.mu.Unlock()
}

func (w *listenWorld) address(i int) string { return strings.TrimPrefix(w.servers[i].url, "http://") }

func (w *listenWorld) listen() {
	w.Helper()
	p, err := launchListener(w.TempDir(), w.out.url(), sharedFirstKey, "--events=metric.*,datafeed.source.*", "--forward-to="+w.in.url()+"/hook", "--json")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		p.kill()
		if w.Failed() {
			w.Logf("stderr of the listener:\n%s", p.stderr.String())
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listener = p
	if w.secret, err = p.find(`"signingSecret":"([^"]+)"`); err != nil {
		w.Fatal(err)
	}
}

// receive is the receiver: it notes what arrives complete and verified.
func (w *listenWorld) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mac := hmac.New(sha256.New, []byte(w.secret))
	mac.Write(body)
	if got := r.Header.Get("X-Service-Signature"); got != hex.EncodeToString(mac.Sum(nil)) {
		w.Errorf("the signature of %s is %q", body, got)
	}
	var event struct{ ID string }
	if err := json.Unmarshal(body, &event); err != nil {
		w.Error(err)
	}
	w.arrived[event.ID]++
}

// publish publishes to all servers in turn, not far ahead of what is shown.
func (w *listenWorld) publish() (stop func()) {
	end := make(chan struct{})
	var publisher sync.WaitGroup
	publisher.Go(func() {
		for i := 0; ; i++ {
			eventually(w.T, "the listener keeps up", func() bool {
				acknowledged, _ := w.book.counts()
				return acknowledged < len(w.shown())+40
			})
			select {
			case <-end:
				return
			default:
			}
			w.mu.Lock()
			url := w.servers[i%len(w.servers)].url
			w.mu.Unlock()
			w.book.to.Store(&url)
			w.book.publishOne(w.T, "1")
		}
	})
	return func() {
		close(end)
		publisher.Wait()
	}
}

// shownEvent is a line of the listener.
type shownEvent struct {
	Kind, EventID, DeliveryID, Error string
	Status                           int
}

func (e shownEvent) good() bool { return e.Error == "" && e.Status == http.StatusOK }

// shown is what the listener has printed of events.
func (w *listenWorld) shown() []shownEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.listener.stdout.String()[w.read:]
	text = text[:strings.LastIndexByte(text, '\n')+1]
	w.read += len(text)
	for line := range strings.Lines(text) {
		var e shownEvent
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == "event" {
			w.lines = append(w.lines, e)
		}
	}
	return w.lines
}

func (w *listenWorld) failed() (n int) {
	for _, e := range w.shown() {
		if !e.good() {
			n++
		}
	}
	return n
}

// allShown reports whether all that was acknowledged is shown. What was
// accepted without an acknowledgement, because of a kill, is shown besides.
func (w *listenWorld) allShown() bool {
	seen := make(map[string]bool)
	for _, e := range w.shown() {
		seen[e.EventID] = true
	}
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	for id := range w.book.acknowledged {
		if !seen[id] {
			return false
		}
	}
	return true
}

// goesOn waits until n more events are shown as good.
func (w *listenWorld) goesOn(n int) {
	w.Helper()
	good := func() int { return len(w.shown()) - w.failed() }
	before := good()
	eventually(w.T, "events come through", func() bool { return good() >= before+n })
}

// check ends the listener and holds what it has shown against what arrived and
// against the delivery log.
func (w *listenWorld) check() {
	shown, failed := w.shown(), w.failed()
	states := w.states(shown)
	if err := w.listener.cmd.Process.Signal(os.Interrupt); err != nil {
		w.Fatal(err)
	}
	if err := w.listener.wait(); err != nil {
		w.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[string]bool)
	for _, e := range shown {
		switch n := w.arrived[e.EventID]; {
		case seen[e.EventID]:
			w.Errorf("%s is shown twice", e.EventID)
		case e.good() && n != 1:
			w.Errorf("%s is shown as good and has arrived %d times", e.EventID, n)
		case n > 1:
			w.Errorf("%s is shown as failed and has arrived %d times", e.EventID, n)
		}
		seen[e.EventID] = true
		want := feedmill.DeliveryExhausted
		if e.good() {
			want = feedmill.DeliveryDelivered
		}
		if got := states[e.DeliveryID]; got != want {
			w.Errorf("the log calls %s %s, want %s", e.DeliveryID, got, want)
		}
	}
	notes := w.listener.stderr.String()
	if lost, again := strings.Count(notes, "connection lost"), strings.Count(notes, "reconnected"); lost < 3 || again < 3 {
		w.Errorf("%d connections are said to be lost and %d to be there again, want at least 3 each:\n%s", lost, again, notes)
	}
	if left := len(w.servers[0].subscriptionIDs(w.T)); left != 0 {
		w.Errorf("%d subscriptions are left behind", left)
	}
	w.Logf("%d events, of which %d failed", len(shown), failed)
}

// states waits until the log has ended all deliveries, and returns how.
func (w *listenWorld) states(shown []shownEvent) map[string]feedmill.DeliveryState {
	c, ctx := w.servers[0].client(sharedFirstKey), w.Context()
	states := make(map[string]feedmill.DeliveryState)
	for _, e := range shown {
		eventually(w.T, "the log knows how it ended", func() bool {
			d, err := c.Delivery(ctx, e.DeliveryID)
			if err != nil {
				w.Fatal(err)
			}
			if len(d.Attempts) > 1 {
				w.Errorf("the log has %d attempts of %s", len(d.Attempts), e.DeliveryID)
			}
			states[e.DeliveryID] = d.State
			return !d.State.Open()
		})
	}
	return states
}

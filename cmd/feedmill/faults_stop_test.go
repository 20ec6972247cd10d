package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// stopBound is ten times the 30 s that the server may take to stop after SIGTERM, for
// machines that are busy.
const stopBound = 10 * 30 * time.Second

// TestStopWithoutStore sends SIGTERM to a server whose store has gone away while it
// publishes, delivers and refreshes. The server exits with 0 in time, and its last log
// line names the fault of the store.
func TestStopWithoutStore(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name   string
		begin  func(*testing.T, *cable)
		reason string
		// drains says that requests in flight last as long as they may.
		drains bool
	}{
		{"refusing", func(_ *testing.T, c *cable) { c.listener.Close(); c.cut() }, "connection refused", false},
		{"silent", func(t *testing.T, c *cable) { c.hold(); t.Cleanup(c.release) }, "did not respond", true},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			database, err := url.Parse(pgtest.New(t))
			if err != nil {
				t.Fatal(err)
			}
			cable := newCable(t, database.Host)
			database.Host = cable.listener.Addr().String()
			p := serve(t, t.TempDir(), append(append(onPostgres(database.String()), onLoopback...), "FEEDMILL_LOG_LEVEL=info")...)
			book, stop := startWork(t, p)
			if fault.drains && longOr(true, false) {
				stop() // else requests in flight take the 20 s that they may
				book.awaitAll(t)
			}
			fault.begin(t, cable)
			checkStop(t, p, fault.reason)
		})
	}
}

// TestStopOnFullDisk sends SIGTERM to a server whose embedded store has no room left.
func TestStopOnFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "48m")
	p := d.serve(t, append(onLoopback, "FEEDMILL_LOG_LEVEL=info")...)
	book, _ := startWork(t, p)
	d.fill(t)
	book.awaitRefused(t, 10)
	checkStop(t, p, "full")
}

// TestStopBeforeTheStoreAnswers sends SIGTERM to a server that still waits for its
// database to answer for the first time.
func TestStopBeforeTheStoreAnswers(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	cable := newCable(t, database.Host)
	cable.hold()
	t.Cleanup(cable.release)
	database.Host = cable.listener.Addr().String()
	cmd, err := command(t.Context(), t.TempDir(), append(onPostgres(database.String()), leashEnv+"=1"), "serve", "--listen=127.0.0.1:0", "--data="+filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := begin(cmd)
	p.until(t, err)
	eventually(t, "the server connects to its database", func() bool {
		cable.mu.Lock()
		defer cable.mu.Unlock()
		return len(cable.conns) > 0
	})
	checkStop(t, p, "before the server was ready")
}

// startWork has a server publish, deliver and refresh until the test ends. Stop ends the
// publishing.
func startWork(t *testing.T, p *process) (book *ledger, stop func()) {
	t.Helper()
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("at") == "" {
			fmt.Fprint(w, `{"data":[{"row":1}],"next":"2"}`)
			return
		}
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at"}}`, slow.URL)
	for range 2 {
		if _, err := p.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{Spec: spec}); err != nil {
			t.Fatal(err)
		}
	}
	book = newLedger()
	sink := book.sink(t)
	book.subscribe(t, p, sink)
	stop = sync.OnceFunc(book.publish(t, strings.Repeat("x", 2<<10)))
	t.Cleanup(stop)
	book.awaitAcknowledged(t, 100)
	return book, stop
}

// checkStop stops a server and checks how it ends.
func checkStop(t *testing.T, p *process, reason string) {
	t.Helper()
	began := time.Now()
	if err := p.stop(); err != nil {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	took := time.Since(began)
	t.Logf("it took %v to stop", took)
	if took > stopBound {
		t.Errorf("it took %v to stop, want at most %v", took, stopBound)
	}
	log := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := log[len(log)-1]; !strings.Contains(last, "msg=stopped") || !strings.Contains(last, reason) {
		t.Errorf("the last log line does not say %q:\n%s", reason, last)
	}
}

// TestStopIsAnnounced checks that /readyz returns 503 between SIGTERM and the moment
// when the port closes, while other requests are still served.
func TestStopIsAnnounced(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"), append(onLoopback, "FEEDMILL_LOG_LEVEL=info")...)
	if status := p.status("/readyz"); status != http.StatusOK {
		t.Fatalf("GET /readyz returns %d", status)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var unready, served int
	for began := time.Now(); time.Since(began) < patience; {
		status := p.status("/readyz")
		if status == 0 {
			break
		}
		switch {
		case status == http.StatusServiceUnavailable:
			unready++
			if p.status("/keys") == http.StatusOK {
				served++
			}
		case unready > 0:
			t.Errorf("GET /readyz returns %d after 503", status)
		}
	}
	if unready == 0 || served == 0 {
		t.Errorf("before the port closed, /readyz returned 503 %d times, and %d other requests were served; want some of each", unready, served)
	}
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	if log := p.stderr.String(); !strings.Contains(log, "level=INFO msg=stopped") {
		t.Errorf("the log does not say that the server stopped:\n%s", log)
	}
}

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// lab is a network of servers in memory, so that time in a synctest bubble
// passes while nothing but waiting goes on. A server speaks HTTP under its
// name, by whatever scheme it is asked.
type lab struct {
	t       *testing.T
	fetcher *Fetcher
	hosts   map[string]*pipeListener
	spool   *os.File

	mu     sync.Mutex
	traced []feedmill.TracedRequest
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, hosts: make(map[string]*pipeListener)}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(address)
		listener := l.hosts[host]
		if listener == nil {
			return nil, fmt.Errorf("no host %s", host)
		}
		here, there := net.Pipe()
		select {
		case listener.conns <- there:
			return here, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	transport := &http.Transport{DialContext: dial, DialTLSContext: dial}
	l.fetcher = NewFetcher(Options{Transport: transport, CheckURL: func(u *url.URL) error {
		if u.Hostname() == "forbidden.test" {
			return errForbidden
		}
		return nil
	}, Forbidden: errForbidden})
	var err error
	if l.spool, err = os.CreateTemp(t.TempDir(), "spool"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = l.spool.Close()
	})
	return l
}

var errForbidden = fmt.Errorf("the host forbidden.test is not allowed")

// serve has a host answered by a handler.
func (l *lab) serve(host string, handler http.HandlerFunc) {
	listener := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	l.hosts[host] = listener
	l.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// job is a fetch of a definition.
func (l *lab) job(definition string) Job {
	l.t.Helper()
	d, err := spec.Parse([]byte(definition), 0)
	if err != nil {
		l.t.Fatalf("%v: %+v", err, err.(*feedmill.Error).Faults)
	}
	spec, err := spec.Restore(d.SourceSpec(), d.Secrets(), d.Rules)
	if err != nil {
		l.t.Fatal(err)
	}
	return Job{Spec: spec, Source: "ds_1", Format: d.Response.Format, Now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Spool: l.spool, Trace: func(r feedmill.TracedRequest) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.traced = append(l.traced, r)
	}}
}

// fetch fetches a definition and gives the pages.
func (l *lab) fetch(definition string) (*pages, Result, error) {
	l.t.Helper()
	p := &pages{each: 1}
	result, err := l.fetcher.Fetch(l.t.Context(), l.job(definition), p)
	return p, result, err
}

// trace is the trace as text, a request a line, and forgets it.
func (l *lab) trace() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, r := range l.traced {
		fmt.Fprintf(&b, "%s %s %d page=%d try=%d rows=%d bytes=%d", r.Method, r.URL, r.Status, r.Page, r.Attempt, r.Rows, r.Bytes)
		if r.Error != "" {
			fmt.Fprintf(&b, " %s", r.Error)
		}
		b.WriteByte('\n')
	}
	l.traced = nil
	return b.String()
}

// wantTrace compares the trace with what is expected, line by line.
func (l *lab) wantTrace(lines ...string) {
	l.t.Helper()
	if got, want := strings.TrimSuffix(l.trace(), "\n"), strings.Join(lines, "\n"); got != want {
		l.t.Errorf("trace:\n%s\nwant:\n%s", got, want)
	}
}

// pages is a sink that keeps the pages. A page has as many records as the text
// "id" in it.
type pages struct {
	each    int
	texts   []string
	formats []string
	on      func(feedmill.FetchedPage)
}

func (p *pages) Page(_ context.Context, page feedmill.FetchedPage) ([]int64, error) {
	text, err := io.ReadAll(page.Body)
	if err != nil {
		return nil, err
	}
	if page.Number != len(p.texts)+1 {
		return nil, fmt.Errorf("page %d comes after %d", page.Number, len(p.texts))
	}
	p.texts, p.formats = append(p.texts, string(text)), append(p.formats, page.Format)
	if p.on != nil {
		p.on(page)
	}
	return []int64{int64(strings.Count(string(text), "id"))}, nil
}

// respond answers with JSON.
func respond(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

// FailureOf is the type of the failure that an error is.
func FailureOf(err error) string {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		return f.Type
	}
	return "none"
}

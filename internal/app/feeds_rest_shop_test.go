package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// shop is a REST API whose data a test changes.
type shop struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	body   string
	etag   string
	asked  []*http.Request
	hold   chan struct{} // where set, answers wait for it
}

func newShop(t *testing.T, body string) *shop {
	t.Helper()
	s := &shop{status: 200, body: body}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r)
		status, body, etag, hold := s.status, s.body, s.etag, s.hold
		s.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if etag != "" {
			w.Header().Set("ETag", etag)
			if r.Header.Get("If-None-Match") == etag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// set changes what the shop answers.
func (s *shop) set(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body = status, body
}

// requests is how often the shop was asked.
func (s *shop) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// restFeed is what tests read of the record of a feed that fetches.
type restFeed struct {
	shownFeed
	Mode          string
	Source        json.RawMessage
	Schedule      json.RawMessage
	NextRefreshAt *time.Time
	LastRefresh   restRefresh
}

type restRefresh struct {
	ID, State       string
	Outcome         *string
	Requests, Pages int64
	RowsIn, BytesIn int64
	RowsStored      int64
	Parts           int64
	PartsDone       int64
	Version         *int64
	Error           *struct{ Type, Detail string }
	Warnings        []feedmill.Warning
	Trace           []tracedRequest
}

// warns reports whether the refresh has a warning of a code.
func (r restRefresh) warns(code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w feedmill.Warning) bool { return w.Code == code })
}

type tracedRequest struct {
	Method, URL string
	Status      *int
	Rows, Bytes int64
	Error       *string
}

// fetched makes a feed that fetches its data, and waits for its first refresh.
func (s *service) fetched(t testing.TB, query, spec string) (f restFeed) {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/data_feeds?type=rest" + query, body: spec, header: [][2]string{{"Prefer", "wait=60"}}})
	if got.status != 201 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	got.data(t, &f)
	return f
}

// refreshed asks for a refresh of a feed and waits for its end.
func (s *service) refreshed(t *testing.T, id string) (f restFeed, r restRefresh) {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/data_feeds/" + id + "/refresh"})
	if got.status != 202 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	got.data(t, &r)
	path := "/data_feeds/" + id + "/refreshes/" + r.ID
	if got.header.Get("Location") != path {
		t.Errorf("Location %q", got.header.Get("Location"))
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: path}).data(t, &r)
		return r.State != "pending" && r.State != "running"
	})
	s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
	return f, r
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// What the client makes of Feedmill's own answers is tested with the program,
// in cmd/feedmill. Here stand the answers that the program never gives, and
// those that would take many records.

// answering is a client of a server that answers everything with handle.
func answering(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return client.New(s.URL+"/", "fm_a-key")
}

func TestErrorsThatAreNoProblemDocuments(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"a page of a proxy", "<html>Bad gateway</html>", 502},
		{"other JSON", `["gone"]`, 404},
		{"nothing", "", 500},
		{"a redirect to nowhere", "", 304},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			err := server.RevokeKey(t.Context(), "key_1")
			problem, ok := errors.AsType[*client.Problem](err)
			if !ok {
				t.Fatalf("the error is %v, want a problem", err)
			}
			if problem.Status != c.status || problem.Title != http.StatusText(c.status) || !strings.Contains(problem.Detail, "Check the server's address") {
				t.Errorf("the problem is %+v", problem)
			}
		})
	}
}

func TestRecordWithoutItsEnvelope(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"id":"ws_1"}`) })
	if made, err := c.CreateWorkspace(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("it is taken for %+v, %v", made, err)
	}
}

func TestProblemAsText(t *testing.T) {
	p := &client.Problem{
		Title: "The request is not valid", Status: 400, Detail: "Correct it.", RequestID: "r1",
		Errors: []client.Fault{{Pointer: "/name", Detail: "No."}, {Parameter: "limit", Detail: "Too much."}, {Header: "Accept", Detail: "None."}},
	}
	const want = "The request is not valid (400): Correct it.\n  /name: No.\n  limit: Too much.\n  Accept: None.\n  request ID: r1"
	if got := p.Error(); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}

func TestAnswerThatCannotBeRead(t *testing.T) {
	server := answering(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":`) })
	_, err := server.CreateWorkspace(t.Context(), "w")
	if err == nil || !strings.Contains(err.Error(), "POST /workspaces: the response cannot be read") {
		t.Errorf("the error is %v", err)
	}
}

func TestIdsArePartOfThePath(t *testing.T) {
	var path string
	server := answering(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		w.WriteHeader(http.StatusNoContent)
	})
	if err := server.RevokeKey(t.Context(), "../a?b"); err != nil {
		t.Fatal(err)
	}
	if want := "/keys/..%2Fa%3Fb"; path != want {
		t.Errorf("the path is %s, want %s", path, want)
	}
}

// pages answers three pages of two workspaces each and counts the requests.
func pages(t *testing.T) (c *client.Client, requests *int) {
	requests = new(int)
	c = answering(t, func(w http.ResponseWriter, r *http.Request) {
		*requests++
		page := 0
		fmt.Sscan(r.URL.Query().Get("cursor"), &page)
		if page < 2 {
			w.Header().Set("Link", fmt.Sprintf(`</workspaces?cursor=%d&limit=2>; rel="next"`, page+1))
		}
		fmt.Fprintf(w, `[{"id":"ws_%d"},{"id":"ws_%d"}]`, 2*page, 2*page+1)
	})
	return c, requests
}

func TestListGoesThroughPages(t *testing.T) {
	c, requests := pages(t)
	list := c.Workspaces(t.Context())
	want := []string{"ws_0", "ws_1", "ws_2", "ws_3", "ws_4", "ws_5"}
	// A list is read anew each time that it is ranged over.
	for range 2 {
		var ids []string
		for w, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, w.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("the list is %v, want %v", ids, want)
		}
	}
	if *requests != 6 {
		t.Errorf("it took %d requests, want 6", *requests)
	}
}

func TestListFetchesNoPageTooMany(t *testing.T) {
	c, requests := pages(t)
	for w, err := range c.Workspaces(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if w.ID == "ws_3" {
			break
		}
	}
	if *requests != 2 {
		t.Errorf("it took %d requests, want 2", *requests)
	}
}

func TestListEndsWithAnError(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"type":"/problems/unavailable","title":"Later","status":503,"detail":"Try again."}`)
			return
		}
		w.Header().Set("Link", `</keys?cursor=x>; rel="next"`)
		io.WriteString(w, `[{"id":"key_1"}]`)
	})
	c.Tries = 1
	var ids []string
	var failures []error
	for k, err := range c.Keys(t.Context()) {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		ids = append(ids, k.ID)
	}
	problem, _ := errors.AsType[*client.Problem](errors.Join(failures...))
	if len(ids) != 1 || len(failures) != 1 || problem == nil || problem.Type != "/problems/unavailable" {
		t.Errorf("the list gives %v and the errors %v", ids, failures)
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	c := answering(t, func(http.ResponseWriter, *http.Request) {
		cancel()
		<-returned
	})
	_, err := c.CreateWorkspace(ctx, "w")
	close(returned)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want context.Canceled", err)
	}
}

package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collectorResponse is what a collector of a test returns once.
type collectorResponse struct {
	status int
	body   string
}

// startCollector starts a collector that returns the responses in order, and the last one from then on.
func startCollector(t *testing.T, responses ...collectorResponse) (url string, requests func() []*http.Request) {
	t.Helper()
	var mu sync.Mutex
	var seen []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil || len(data.ResourceSpans) != 1 || data.ResourceSpans[0].SchemaUrl != "spans" {
			t.Errorf("the collector got %v, %v", &data, err)
		}
		next := responses[min(len(seen), len(responses)-1)]
		seen = append(seen, r)
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

var someSpans = []*tracepb.ResourceSpans{{SchemaUrl: "spans"}}

func TestCollector(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		responses []collectorResponse
		requests  int
		want      string
	}{
		"accepted":      {[]collectorResponse{{200, ""}}, 1, ""},
		"busy at first": {[]collectorResponse{{503, ""}, {429, ""}, {502, ""}, {504, ""}, {200, ""}}, 5, ""},
		"refused":       {[]collectorResponse{{401, ""}, {200, ""}}, 1, "the collector returned 401 Unauthorized"},
		"moved":         {[]collectorResponse{{307, ""}, {200, ""}}, 1, "the collector returned 307 Temporary Redirect"},
		// partial_success (field 1) with rejected_spans (field 1) of 300 and a message (field 2).
		"rejected":    {[]collectorResponse{{200, "\x0a\x07\x08\xac\x02\x12\x02no"}}, 1, "the collector rejected 300 spans"},
		"with a note": {[]collectorResponse{{200, "\x0a\x04\x12\x02no"}}, 1, ""},
		"damaged":     {[]collectorResponse{{200, "\x0a\xff"}}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, requests := startCollector(t, c.responses...)
			client, err := newCollector(url+"/", "api-key=a%20b, other = c,")
			if err != nil {
				t.Fatal(err)
			}
			client.pause = time.Millisecond
			err = client.UploadTraces(t.Context(), someSpans)
			if err == nil && c.want != "" || err != nil && err.Error() != c.want {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			got := requests()
			if len(got) != c.requests {
				t.Fatalf("%d requests, want %d", len(got), c.requests)
			}
			for _, r := range got {
				if r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" ||
					r.Header.Get("Api-Key") != "a b" || r.Header.Get("Other") != "c" {
					t.Errorf("the collector got %s %s with %v", r.Method, r.URL, r.Header)
				}
			}
			if err := client.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCollectorGivesUp holds a batch for a collector that stays busy to the end of its context.
func TestCollectorGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url, requests := startCollector(t, collectorResponse{status: 503})
	client, err := newCollector(url, "")
	if err != nil {
		t.Fatal(err)
	}
	client.pause = time.Hour
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := client.UploadTraces(ctx, someSpans); err == nil || !strings.Contains(err.Error(), "503") && ctx.Err() == nil {
		t.Errorf("the error is %v", err)
	}
	if n := len(requests()); n > 1 {
		t.Errorf("%d requests within the first pause", n)
	}
}

func TestCollectorHeaders(t *testing.T) {
	for _, text := range []string{"secret", "a=%zz-secret"} {
		if _, err := newCollector("http://127.0.0.1:1", text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}

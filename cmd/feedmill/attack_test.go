package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// attacker is somebody with one ordinary key.
type attacker struct {
	t        *testing.T
	url, key string
	feed     string // of many rows of long texts
}

// several makes requests at the same time, and holds each to the statuses that it may
// be answered with. Too many at once, 429, is one of them.
func (a *attacker) several(ctx context.Context, n int, method, path string, header map[string]string, body string, statuses ...int) {
	a.t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			status, answer, err := request(ctx, a.key, method, a.url+path, header, strings.NewReader(body))
			if err != nil || !slices.Contains(append(statuses, http.StatusTooManyRequests), status) {
				a.t.Errorf("%s %s: %d %.300s, %v", method, path, status, answer, err)
			}
		})
	}
	all.Wait()
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sparse is records each of which has a column of its own.
func sparse(records int) string {
	var out strings.Builder
	for i := range records {
		fmt.Fprintf(&out, "{\"c%d\":1}\n", i)
	}
	return out.String()
}

// attacks are what somebody with one ordinary key has tried to take the service
// from the others with.
var attacks = []struct {
	name string
	run  func(ctx context.Context, a *attacker)
}{
	{"a path that looks at one text for every element", func(ctx context.Context, a *attacker) {
		document := `{"big":"` + strings.Repeat("x", 1<<20) + `","items":[` + strings.Repeat("1,", 100_000) + `1]}`
		once := compressed(a.t, document)
		header := map[string]string{"Content-Encoding": "gzip"}
		for _, path := range []string{"$.items[?$.big<$.big]", "$.items[?length($.big)>1]", "$.items[?search($.big,'y')]"}[:longOr(1, 3)] {
			a.several(ctx, longOr(1, 2), http.MethodPost, "/data_feeds/preview?type=dataUpload&path="+escaped(path), header, once, http.StatusUnprocessableEntity)
		}
		a.several(ctx, longOr(1, 2), http.MethodPost, "/data_feeds?type=dataUpload&path="+escaped("$.items[?$.big<$.big]"), header, once, http.StatusUnprocessableEntity)
		header["Content-Encoding"] = "gzip, gzip"
		a.several(ctx, 2, http.MethodPost, "/data_feeds?type=dataUpload", header, compressed(a.t, once), http.StatusUnsupportedMediaType)
	}},
	{"small files that are huge tables of nothing", func(ctx context.Context, a *attacker) {
		lines := map[string]string{"Content-Type": "application/x-ndjson"}
		a.several(ctx, longOr(1, 8), http.MethodPost, "/data_feeds?type=dataUpload", lines, sparse(longOr(2000, 7000))+strings.Repeat("{\"c0\":1}\n", 40_000), http.StatusUnprocessableEntity)
		ragged := strings.Repeat("a,", 9000) + "b\n" + strings.Repeat("1\n", 30_000)
		a.several(ctx, longOr(1, 8), http.MethodPost, "/data_feeds?type=dataUpload", map[string]string{"Content-Type": "text/csv"}, ragged, http.StatusUnprocessableEntity)
		// As large as it may be.
		a.several(ctx, 2, http.MethodPost, "/data_feeds/preview?type=dataUpload", lines, sparse(300), http.StatusOK)
	}},
	{"previews of such tables from an API", func(ctx context.Context, a *attacker) {
		page := sparse(longOr(2000, 7000)) + strings.Repeat("{\"c0\":1}\n", 40_000)
		source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			io.WriteString(w, page)
		}))
		defer source.Close()
		a.several(ctx, longOr(1, 6), http.MethodPost, "/data_feeds/preview?type=rest", nil, fmt.Sprintf(`{"request":{"url":%q}}`, source.URL), http.StatusUnprocessableEntity)
	}},
	{"queries with costly patterns", func(ctx context.Context, a *attacker) {
		path := "/data_feeds/" + a.feed + "/query"
		a.several(ctx, longOr(4, 16), http.MethodPost, path, nil, `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y(x|y){1,200}"]}]}]}`, http.StatusOK, http.StatusUnprocessableEntity)
		a.several(ctx, 2, http.MethodPost, path, nil, `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(abcdefghijklmnopq){900}"]}]}]}`, http.StatusBadRequest)
	}},
	{"bodies of nothing but brackets, and of unknown names", func(ctx context.Context, a *attacker) {
		a.several(ctx, 32, http.MethodPost, "/events/subscriptions", nil, "["+strings.Repeat("[],", 1<<20/3-10)+"[]]", http.StatusBadRequest)
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf(`{"field":"%s%d"}`, strings.Repeat("unknown", 20), i))
		}
		a.several(ctx, 8, http.MethodPost, "/data_feeds/"+a.feed+"/query", nil, `{"fields":[`+strings.Join(names, ",")+`]}`, http.StatusBadRequest)
	}},
	{"readers that take nothing", func(ctx context.Context, a *attacker) {
		var conns []net.Conn
		for range 20 {
			conns = append(conns, a.dial(fmt.Sprintf("GET /data_feeds/%s/data?format=ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", a.feed, a.key)))
		}
		a.several(ctx, 1, http.MethodGet, "/data_feeds/"+a.feed+"/data?limit=1", nil, "", http.StatusOK)
		for _, conn := range conns {
			conn.Close()
		}
	}},
	{"strangers that send slowly", func(ctx context.Context, a *attacker) {
		for range 50 {
			conn := a.dial("POST /data_feeds?type=dataUpload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\nContent-Length: 1000000\r\n\r\n[")
			answer, err := io.ReadAll(conn) // the server ends the connection
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401") || !strings.Contains(string(answer), "Connection: close") {
				a.t.Errorf("%.200s, %v", answer, err)
			}
			conn.Close()
		}
	}},
	{"strangers that send large forms", func(_ context.Context, a *attacker) {
		chunk := "100000\r\n" + strings.Repeat("k=v&", 1<<18) + "\r\n"
		var all sync.WaitGroup
		for _, head := range []string{
			"POST /ui/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n",
			"POST /ui/feeds/new/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n",
		} {
			for range 60 {
				all.Go(func() {
					conn := a.dial(head)
					defer conn.Close()
					var err error
					for range 10 { // of a mebibyte, as long as the server takes them
						if _, err = io.WriteString(conn, chunk); err != nil {
							break
						}
					}
					if err == nil {
						a.t.Errorf("the server takes 10 MiB of a stranger's form: %.60s", head)
					}
				})
			}
		}
		all.Wait()
	}},
	{"whoever goes away in the middle", func(ctx context.Context, a *attacker) {
		ctx, cancel := context.WithCancel(ctx)
		var gone sync.WaitGroup
		for range 4 {
			gone.Go(func() {
				body := `{"big":"` + strings.Repeat("x", 1<<20) + `","items":[` + strings.Repeat("1,", 100_000) + `1]}`
				_, _, _ = request(ctx, a.key, http.MethodPost, a.url+"/data_feeds/preview?type=dataUpload&path="+escaped("$.items[?search($.big,'(x|y)+z')]"), nil, strings.NewReader(body))
			})
			gone.Go(func() {
				_, _, _ = request(ctx, a.key, http.MethodPost, a.url+"/data_feeds/"+a.feed+"/query", nil, strings.NewReader(`{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y"]}]}]}`))
			})
		}
		a.several(context.WithoutCancel(ctx), 1, http.MethodGet, "/data_feeds", nil, "", http.StatusOK)
		cancel()
		gone.Wait()
	}},
}

// escaped is a path in a query.
func escaped(path string) string {
	return strings.NewReplacer("$", "%24", "[", "%5B", "]", "%5D", "?", "%3F", "(", "%28", ")", "%29", "'", "%27", "<", "%3C", ">", "%3E", "|", "%7C", "+", "%2B").Replace(path)
}

// dial connects and sends something by hand.
func (a *attacker) dial(text string) net.Conn {
	a.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		a.t.Fatal(err)
	}
	return conn
}

// TestAttacks attacks a server that has 512 MB for itself and its workers, beside a
// workspace that goes about its business.
func TestAttacks(t *testing.T) {
	group := newMemoryGroup(t)
	p := serveLimited(t, group, slices.Concat(onLoopback, []string{"FEEDMILL_QUERY_TIMEOUT=1m"})...)
	n := newNeighbour(t, p)
	a := &attacker{t: t, url: p.url, key: sharedFirstKey}
	resp, answer, err := upload(p.url, "application/x-ndjson", longTexts(longOr(200, 500)))
	if err != nil || resp != http.StatusCreated {
		t.Fatalf("%d %s, %v", resp, answer, err)
	}
	a.feed = answer
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			a.t = t
			for range longOr(1, 5) {
				n.beside(t, func(ctx context.Context) { attack.run(ctx, a) })
			}
			if group != "" && group.killed(t) > 0 {
				t.Fatal("a process was killed for want of memory")
			}
		})
	}
	t.Run("all sorts of things from eight workspaces", func(t *testing.T) { mixedAttack(t, p, n, group) })
	if group == "" {
		p.boundMemory(t, attackMemory)
	}
	p.mustStop(t)
}

// upload makes a feed and returns its id.
func upload(url, contentType, body string) (int, string, error) {
	status, answer, err := request(context.Background(), sharedFirstKey, http.MethodPost, url+"/data_feeds?type=dataUpload", map[string]string{"Content-Type": contentType}, strings.NewReader(body))
	_, after, _ := strings.Cut(answer, `"id":"`)
	id, _, _ := strings.Cut(after, `"`)
	return status, id, err
}

// TestDiskAndQuota holds uploads to the free disk and to what a workspace may store.
func TestDiskAndQuota(t *testing.T) {
	full := serve(t, t.TempDir(), slices.Concat(onLoopback, []string{"FEEDMILL_MIN_FREE_DISK=1000000TB"})...)
	n := "/data_feeds?type=dataUpload"
	for _, path := range []string{n, "/data_feeds/preview?type=dataUpload"} {
		if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, full.url+path, nil, strings.NewReader(`[{"a":1}]`)); status != http.StatusInsufficientStorage || err != nil {
			t.Errorf("%s on a full disk: %d %s, %v", path, status, answer, err)
		}
	}
	must(t, http.StatusCreated, sharedFirstKey, full.url+"/events/subscriptions", `{"url":"http://127.0.0.1:1/","events":["metric.*"]}`)
	if status, answer, err := request(t.Context(), sharedFirstKey, http.MethodPost, full.url+"/events", nil, strings.NewReader(`{"type":"metric.created"}`)); status != http.StatusAccepted || err != nil {
		t.Errorf("an event on a full disk: %d %s, %v", status, answer, err)
	}
	full.mustStop(t)

	p := serve(t, t.TempDir(), slices.Concat(onLoopback, []string{"FEEDMILL_MAX_STORED_BYTES=20KB"})...)
	other := p.otherWorkspace(t)
	rows := strings.Repeat("1,2\n", 3000)
	if status, _, err := upload(p.url, "text/csv", "a,b\n"+rows); status != http.StatusCreated || err != nil {
		t.Fatalf("within the quota: %d, %v", status, err)
	}
	for _, body := range []string{"a,b\n" + rows, "a,b\n" + rows + rows + rows} {
		if status, _, err := upload(p.url, "text/csv", body); status != http.StatusConflict || err != nil {
			t.Errorf("past the quota: %d, %v", status, err)
		}
	}
	if status, answer, err := request(t.Context(), other, http.MethodPost, p.url+n, nil, strings.NewReader(`[{"a":1}]`)); status != http.StatusCreated || err != nil {
		t.Errorf("another workspace: %d %s, %v", status, answer, err)
	}
	if _, metrics, err := send(http.MethodGet, p.url+"/metrics", ""); err != nil || !strings.Contains(string(metrics), "feedmill_stored_bytes{workspace=") {
		t.Errorf("what is stored is not counted: %v", err)
	}
	p.mustStop(t)
}

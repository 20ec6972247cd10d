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
	"strings"
	"sync"
	"testing"
)

// requestAttacks are requests of one ordinary key that try to exhaust the server.
var requestAttacks = []attack{
	{name: "a path that looks at one text for every element", run: func(ctx context.Context, a *attacker) {
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
	{name: "small files that are huge tables of nothing", run: func(ctx context.Context, a *attacker) {
		lines := map[string]string{"Content-Type": "application/x-ndjson"}
		a.several(ctx, longOr(1, 8), http.MethodPost, "/data_feeds?type=dataUpload", lines, sparse(longOr(2000, 7000))+strings.Repeat("{\"c0\":1}\n", 40_000), http.StatusUnprocessableEntity)
		ragged := strings.Repeat("a,", 9000) + "b\n" + strings.Repeat("1\n", 30_000)
		a.several(ctx, longOr(1, 8), http.MethodPost, "/data_feeds?type=dataUpload", map[string]string{"Content-Type": "text/csv"}, ragged, http.StatusUnprocessableEntity)
		// As large as it may be.
		a.several(ctx, 2, http.MethodPost, "/data_feeds/preview?type=dataUpload", lines, sparse(300), http.StatusOK)
	}},
	{name: "previews of such tables from an API", run: func(ctx context.Context, a *attacker) {
		page := sparse(longOr(2000, 7000)) + strings.Repeat("{\"c0\":1}\n", 40_000)
		source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			io.WriteString(w, page)
		}))
		defer source.Close()
		a.several(ctx, longOr(1, 6), http.MethodPost, "/data_feeds/preview?type=rest", nil, fmt.Sprintf(`{"request":{"url":%q}}`, source.URL), http.StatusUnprocessableEntity)
	}},
	{name: "queries with costly patterns", run: func(ctx context.Context, a *attacker) {
		path := "/data_feeds/" + a.Feed + "/query"
		a.several(ctx, longOr(4, 16), http.MethodPost, path, nil, `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y(x|y){1,200}"]}]}]}`, http.StatusOK, http.StatusUnprocessableEntity)
		a.several(ctx, 2, http.MethodPost, path, nil, `{"fields":[{"field":"text","filters":[{"op":"matches","values":["(abcdefghijklmnopq){900}"]}]}]}`, http.StatusBadRequest)
	}},
	{name: "bodies of nothing but brackets, and of unknown names", run: func(ctx context.Context, a *attacker) {
		a.several(ctx, 32, http.MethodPost, "/events/subscriptions", nil, "["+strings.Repeat("[],", 1<<20/3-10)+"[]]", http.StatusBadRequest)
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf(`{"field":"%s%d"}`, strings.Repeat("unknown", 20), i))
		}
		a.several(ctx, 8, http.MethodPost, "/data_feeds/"+a.Feed+"/query", nil, `{"fields":[`+strings.Join(names, ",")+`]}`, http.StatusBadRequest)
	}},
	{name: "readers that take nothing", run: func(ctx context.Context, a *attacker) {
		var conns []net.Conn
		for range 20 {
			conns = append(conns, a.dial(fmt.Sprintf("GET /data_feeds/%s/data?format=ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", a.Feed, a.Key)))
		}
		a.several(ctx, 1, http.MethodGet, "/data_feeds/"+a.Feed+"/data?limit=1", nil, "", http.StatusOK)
		for _, conn := range conns {
			conn.Close()
		}
	}},
	{name: "strangers that send slowly", run: func(ctx context.Context, a *attacker) {
		for range 50 {
			conn := a.dial("POST /data_feeds?type=dataUpload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\nContent-Length: 1000000\r\n\r\n[")
			answer, err := io.ReadAll(conn) // the server ends the connection
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401") || !strings.Contains(string(answer), "Connection: close") {
				a.t.Errorf("%.200s, %v", answer, err)
			}
			conn.Close()
		}
	}},
	{name: "strangers that send large forms", run: func(_ context.Context, a *attacker) {
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
	{name: "clients that disconnect early", run: func(ctx context.Context, a *attacker) {
		ctx, cancel := context.WithCancel(ctx)
		var gone sync.WaitGroup
		for range 4 {
			gone.Go(func() {
				body := `{"big":"` + strings.Repeat("x", 1<<20) + `","items":[` + strings.Repeat("1,", 100_000) + `1]}`
				_, _, _ = request(ctx, a.Key, http.MethodPost, a.URL+"/data_feeds/preview?type=dataUpload&path="+escaped("$.items[?search($.big,'(x|y)+z')]"), nil, strings.NewReader(body))
			})
			gone.Go(func() {
				_, _, _ = request(ctx, a.Key, http.MethodPost, a.URL+"/data_feeds/"+a.Feed+"/query", nil, strings.NewReader(`{"fields":[{"field":"text","filters":[{"op":"matches","values":["(x+x+)+y"]}]}]}`))
			})
		}
		a.several(context.WithoutCancel(ctx), 1, http.MethodGet, "/data_feeds", nil, "", http.StatusOK)
		cancel()
		gone.Wait()
	}},
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

// escaped is a path in a query.
func escaped(path string) string {
	return strings.NewReplacer("$", "%24", "[", "%5B", "]", "%5D", "?", "%3F", "(", "%28", ")", "%29", "'", "%27", "<", "%3C", ">", "%3E", "|", "%7C", "+", "%2B").Replace(path)
}

// dial connects and sends something by hand.
func (a *attacker) dial(text string) net.Conn {
	a.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.URL, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		a.t.Fatal(err)
	}
	return conn
}

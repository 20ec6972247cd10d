package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// source is a REST API to fetch from.
type source struct{ *httptest.Server }

func newSource(t *testing.T) source {
	t.Helper()
	s := source{startSource()}
	t.Cleanup(s.Close)
	return s
}

// startSource serves /orders, three pages of two orders each behind the token
// "s3cret" where one is sent, /never, which does not answer, and every status
// under its number.
func startSource() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		if sent := r.Header.Get("Authorization"); sent != "" && sent != "Bearer s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page = max(page, 1)
		w.Header().Set("Content-Type", "application/json")
		if page > 3 {
			fmt.Fprint(w, `{"data":[],"sums":[]}`)
			return
		}
		fmt.Fprintf(w, `{"data":[{"id":%d,"total":1.50},{"id":%d,"total":2.25}],"sums":[{"page":%d,"sum":3.75}]}`, 2*page-1, 2*page, page)
	})
	mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/{status}", func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.PathValue("status"))
		if err != nil {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
	})
	return httptest.NewServer(mux)
}

// spec says how to fetch from a path.
func (s source) spec(path string) json.RawMessage {
	return fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"}}`, s.URL+path)
}

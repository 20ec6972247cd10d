package api

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func TestProblemTypes(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	get := func(path, accept string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Header.Set("Accept", accept)
		s.ServeHTTP(w, r)
		return w
	}
	for _, p := range feedmill.ProblemTypes() {
		path := "/problems/" + p.Slug
		var got client.ProblemType
		w := get(path, "*/*")
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got != (client.ProblemType{Type: path, Title: p.Title, Description: p.Meaning, Fix: p.Fix}) {
			t.Errorf("%s: %d %s (%v)", path, w.Code, w.Body, err)
		}
	}
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for accept, status := range map[string]int{
		browser: 303, "text/html": 303, "": 200, "application/json": 200, "application/problem+json, text/html;q=0.5": 200, "text/html;q=0": 200, "image/png": 200,
	} {
		w := get("/problems/not-found", accept)
		if w.Code != status || w.Header().Get("Vary") != "Accept" || (status == 303) != (w.Header().Get("Location") == "/docs/reference/problems#not-found") {
			t.Errorf("Accept %q: %d %v", accept, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/problems/nothing", "/problems/NOT-FOUND", "/problems/%ff"} {
		if w := get(path, browser); w.Code != 404 || readProblem(t, w).Type != "/problems/not-found" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, k := range kinds {
		if w := get("/problems/"+k.slug, ""); w.Code != 200 {
			t.Errorf("/problems/%s: %d", k.slug, w.Code)
		}
	}
}

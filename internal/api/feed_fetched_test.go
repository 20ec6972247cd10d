package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

const restBody = `{"name":"Orders","request":{"url":"https://shop.example/orders"}}`

func TestFetchedFeedIsMade(t *testing.T) {
	w := newWorld(t)
	a := ask(w.Server, "POST", "/data_feeds?type=rest", restBody, "Content-Type", "application/json; charset=utf-8", "Prefer", "return=minimal")
	if a.Code != http.StatusCreated || !strings.HasPrefix(a.Header().Get("Location"), "/data_feeds/df_") || a.Header().Get("Preference-Applied") != "" {
		t.Fatalf("%d %v %s", a.Code, a.Header(), a.Body)
	}
	for _, part := range []string{`"type":"rest"`, `"state":"refreshing"`, `"schedule":null`, `"source":{"request":`, `"state":"pending"`, `"requests":0`, `"outcome":null`} {
		if !strings.Contains(a.Body.String(), part) {
			t.Errorf("%s is not in %s", part, a.Body)
		}
	}
	if strings.Contains(a.Body.String(), `"trace"`) {
		t.Errorf("the trace is in %s", a.Body)
	}
	if a := ask(w.Server, "POST", "/data_feeds?type=rest", "# orders\nname: Orders\nrequest: {url: 'https://shop.example/orders'}\n", "Content-Type", "application/yaml"); a.Code != http.StatusCreated || string(w.feeds.made[1].Body) != restBody {
		t.Errorf("%d %s %s", a.Code, a.Body, w.feeds.made[1].Body)
	}
	w.feeds.made = w.feeds.made[:1]
	first := feedmill.ID(strings.TrimPrefix(a.Header().Get("Location"), "/data_feeds/"))
	a = ask(w.Server, "POST", "/data_feeds?type=rest&sourceOf="+string(first), `{"response":{"path":"$.other"}}`)
	if a.Code != http.StatusCreated {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	want := []feedmill.FetchedFeed{
		{Type: feedmill.FeedREST, Body: []byte(restBody)}, {Type: feedmill.FeedREST, Body: []byte(`{"response":{"path":"$.other"}}`), SourceOf: first},
	}
	if !slices.EqualFunc(w.feeds.made, want, func(a, b feedmill.FetchedFeed) bool {
		return a.Type == b.Type && a.SourceOf == b.SourceOf && string(a.Body) == string(b.Body)
	}) {
		t.Errorf("asked for %+v", w.feeds.made)
	}
}

func TestFetchedFeedIsRefused(t *testing.T) {
	w := newWorld(t)
	upload := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded)
	for _, c := range []struct {
		name, query, body, mediaType string
		status                       int
		places                       []string
	}{
		{name: "parameters of uploads", query: "&name=x&path=$&format=json&types=text&explode=a&mode=merge&key=a", body: restBody, status: 400, places: []string{"name", "path", "format", "types", "explode", "mode", "key"}},
		{name: "no id", query: "&sourceOf=x", body: restBody, status: 400, places: []string{"sourceOf"}},
		{name: "no such feed", query: "&sourceOf=df_00000000000000000000000000", body: restBody, status: 400, places: []string{"sourceOf"}},
		{name: "source of an upload", query: "&sourceOf=" + string(upload.ID), body: restBody, status: 400, places: []string{"sourceOf"}},
		{name: "no object", body: "[]", status: 400, places: []string{""}},
		{name: "duplicate", body: `{"name":"a","name":"b"}`, status: 400, places: []string{"/name"}},
		{name: "no JSON", body: `{"name"`, status: 400, places: []string{"/name"}},
		{name: "CSV", body: "a\n1\n", mediaType: "text/csv", status: 415, places: []string{"Content-Type"}},
		{name: "too large", body: `{"name":"` + strings.Repeat("x", smallBody) + `"}`, status: 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			mediaType := "application/json"
			if c.mediaType != "" {
				mediaType = c.mediaType
			}
			a := ask(w.Server, "POST", "/data_feeds?type=rest"+c.query, c.body, "Content-Type", mediaType)
			p := readProblem(t, a)
			if a.Code != c.status {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
			if a.Code == 415 && a.Header().Get("Accept-Post") != "application/json, application/yaml" {
				t.Errorf("Accept-Post is %q", a.Header().Get("Accept-Post"))
			}
			for _, place := range c.places {
				if !slices.ContainsFunc(p.Errors, func(f problemFault) bool {
					return f.Parameter+f.Header == place || f.Pointer != nil && *f.Pointer == place
				}) {
					t.Errorf("no fault at %q in %s", place, a.Body)
				}
			}
		})
	}
	if len(w.feeds.made) > 0 {
		t.Errorf("made %+v", w.feeds.made)
	}
	w.feeds.refusal = feedmill.Invalid("", feedmill.Fault{Pointer: "/request/url", Detail: "this must be absolute"})
	if p := readProblem(t, ask(w.Server, "POST", "/data_feeds?type=rest", restBody)); p.Status != 400 || *p.Errors[0].Pointer != "/request/url" || p.Errors[0].Detail != "This must be absolute." {
		t.Errorf("%+v", p)
	}
}

func TestFetchedFeedIsPreviewed(t *testing.T) {
	w := newWorld(t)
	w.feeds.preview = feedmill.FeedPreview{
		Rows: []byte(`[{"id":1}]`), RowCount: 1, Spec: []byte(`{"request":{}}`),
		Trace: []feedmill.TracedRequest{{Method: "GET", URL: "https://shop.example/orders", At: now(), Error: "no route", Attempt: 1}},
	}
	a := ask(w.Server, "POST", "/data_feeds/preview?type=rest", restBody)
	if a.Code != 200 || !strings.Contains(a.Body.String(), `"status":null`) || !strings.Contains(a.Body.String(), `"page":null,"attempt":1,"waitedMs":0,"waitedFor":null,"error":"no route"`) ||
		!strings.Contains(a.Body.String(), `"source":{"request":{}}`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for _, query := range []string{"&mode=append", "&sourceOf=df_00000000000000000000000000"} {
		if a := ask(w.Server, "POST", "/data_feeds/preview?type=rest"+query, restBody); a.Code != 400 {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

func TestFetchIsChanged(t *testing.T) {
	w := newWorld(t)
	rest, upload := w.feeds.add(t, feedmill.FeedREST, feedmill.RefreshSucceeded), w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded)
	a := ask(w.Server, "PATCH", feedURL(rest.ID), `{"schedule": null, "name":"New", "auth":{"kind":"bearer","token":"t"}}`)
	if a.Code != 200 || len(w.feeds.patches) != 1 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if p := w.feeds.patches[0]; *p.Name != "New" || p.Description != nil || string(p.Spec) != `{"auth":{"kind":"bearer","token":"t"},"schedule":null}` {
		t.Errorf("%s %+v", p.Spec, p)
	}
	p := readProblem(t, ask(w.Server, "PATCH", feedURL(upload.ID), `{"name":"New","schedule":{"every":"1h"},"key":[]}`))
	if p.Status != 400 || len(p.Errors) != 2 || *p.Errors[0].Pointer != "/schedule" || *p.Errors[1].Pointer != "/key" {
		t.Errorf("%+v", p)
	}
	if p := readProblem(t, ask(w.Server, "PATCH", feedURL(rest.ID), `{"shedule":null}`)); !strings.Contains(p.Errors[0].Detail, "schedule") {
		t.Errorf("%+v", p)
	}
	if a := ask(w.Server, "PATCH", feedURL(upload.ID), `{"name":"New"}`); a.Code != 200 || w.feeds.patches[1].Spec != nil {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := ask(w.Server, "PATCH", "/data_feeds/df_00000000000000000000000000", `{"mode":"append"}`); a.Code != 404 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// link makes a link to a feed and returns its id and the path that reads it.
func (s *service) link(t *testing.T, feed, body string) (id, path string) {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/data_feeds/" + feed + "/links", body: body})
	var made struct{ Data struct{ ID, URL string } }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 201 || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s: %v", got.status, got.header, got.body, err)
	}
	at := strings.Index(made.Data.URL, "/links/")
	if !strings.HasPrefix(made.Data.URL, "http://") || at < 0 {
		t.Fatalf("the URL %q", made.Data.URL)
	}
	return made.Data.ID, made.Data.URL[at:]
}

func TestLinks(t *testing.T) {
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,name,secret\n1,Ada,x\n2,Bob,y\n3,Cy,z\n")
	feed := "/data_feeds/" + f.ID
	id, all := s.link(t, f.ID, `{"name":"all"}`)
	_, some := s.link(t, f.ID, `{"format":"csv","fields":["name","secret"],"filter":["id:gt:1"]}`)
	ends := time.Now().Add(time.Second) // which a busy machine is given to make it
	_, short := s.link(t, f.ID, `{"expiresAt":"`+ends.UTC().Format(time.RFC3339Nano)+`"}`)
	read := func(path string, header ...[2]string) reply {
		return s.send(t, request{method: "GET", path: path, header: append(header, [2]string{"Authorization", ""})})
	}

	if got := read(all); got.status != 200 || !strings.HasPrefix(got.body, `[{"id":1,"name":"Ada","secret":"x"}`) || got.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	got := read(some)
	if got.status != 200 || got.body != "name,secret\r\nBob,y\r\nCy,z\r\n" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if again := read(some, [2]string{"If-None-Match", got.header.Get("ETag")}); again.status != 304 {
		t.Errorf("what is known: %d", again.status)
	}
	if head := s.send(t, request{method: "HEAD", path: some}); head.status != 200 || head.header.Get("Content-Type") != got.header.Get("Content-Type") {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	if coded := read(some, [2]string{"Accept-Encoding", "gzip"}); coded.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("coded: %v", coded.header)
	}
	if page := read(all + "?limit=1"); page.status != 200 || !strings.Contains(page.header.Get("Link"), "cursor=") {
		t.Errorf("a page: %d %v", page.status, page.header)
	}
	for _, query := range []string{"?fields=id", "?filter=id:eq:1", "?sort=id", "?format=json"} {
		if got := read(some + query); got.status != 400 || strings.Contains(got.body, some) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}

	// Columns stay what they are when they are renamed, and hidden ones are not read.
	if got := s.send(t, request{method: "PATCH", path: feed + "/columns", body: `[{"id":"c1","name":"Id, new"},{"id":"c2","name":"who"},{"id":"c3","hidden":true}]`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := read(some); got.body != "who\r\nBob\r\nCy\r\n" {
		t.Errorf("renamed: %d %s", got.status, got.body)
	}
	if got := read(all); !strings.HasPrefix(got.body, `[{"Id, new":1,"who":"Ada"}`) {
		t.Errorf("hidden: %s", got.body)
	}
	for body, pointer := range map[string]string{
		`{"fields":["who","secret"]}`: "/fields/1", `{"fields":["nobody"]}`: "/fields/0", `{"filter":"nobody:eq:1"}`: "/filter",
		`{"filter":["who"]}`: "/filter/0", `{"format":"pdf"}`: "/format", `{"expiresAt":"2020-01-01T00:00:00Z"}`: "/expiresAt", `{"url":"x"}`: "/url",
	} {
		if got := s.send(t, request{method: "POST", path: feed + "/links", body: body}); got.status != 400 || !strings.Contains(got.body, `"`+pointer+`"`) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}

	list := s.send(t, request{method: "GET", path: feed + "/links"})
	if strings.Contains(list.body, strings.TrimPrefix(all, "/links/")) || strings.Contains(list.body, `"url"`) || !strings.Contains(list.body, `"filter":["\"Id, new\":gt:1"]`) || !strings.Contains(list.body, `"uses":3`) {
		t.Errorf("the list: %s", list.body)
	}
	if got := s.send(t, request{method: "DELETE", path: feed + "/links/" + id}); got.status != 204 {
		t.Errorf("revoked: %d %s", got.status, got.body)
	}
	eventually(t, func() bool { return time.Now().After(ends) })
	gone, expired, never := read(all), read(short), read("/links/"+strings.Repeat("A", 43))
	for _, got := range []reply{gone, expired, never} {
		if got.status != http.StatusNotFound || strings.ReplaceAll(got.body, "\n", "") != strings.ReplaceAll(never.body, "\n", "") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// Whoever has a link can read it often, and not without end.
func TestLinksAreReadOnlySoOften(t *testing.T) {
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id\n1\n")
	_, path := s.link(t, f.ID, `{}`)
	for range 200 {
		if got := s.send(t, request{method: "GET", path: path}); got.status == http.StatusTooManyRequests {
			if got.header.Get("Retry-After") == "" {
				t.Errorf("it does not say when: %v", got.header)
			}
			return
		}
	}
	t.Error("it was read 200 times in a row")
}

package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestListPagesEnd lists feeds whose records are large: a page ends at 8 MiB, and the pages
// together have every feed once, in order.
func TestListPagesEnd(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var header strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&header, "%s%d,", strings.Repeat("n", 1000), i)
	}
	uploaded := s.upload(t, "&name=feed-00", "text/csv", header.String()+"last\n"+strings.Repeat("1,", 2000)+"1\n")
	want := []string{uploaded.ID}
	size := len(s.send(t, request{method: "GET", path: "/data_feeds/" + uploaded.ID}).body)
	// The other feeds are copies of the record: its columns take seconds to read.
	w, err := s.app.store.WorkspaceByName(t.Context(), feedmill.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.app.store.Feed(t.Context(), w.ID, feedmill.ID(uploaded.ID))
	if err != nil {
		t.Fatal(err)
	}
	for n := size; n < 9<<20; n += size {
		f.ID, f.Name = feedmill.NewID(feedmill.PrefixDataFeed), fmt.Sprintf("feed-%02d", len(want))
		f.TableName = feedmill.DefaultTableName(f.Name)
		if err := s.app.store.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f}, nil, nil); err != nil {
			t.Fatal(err)
		}
		want = slices.Insert(want, 0, string(f.ID))
	}
	for _, order := range []string{"", "sort=-name&"} {
		var ids []string
		path, pages := "/data_feeds?"+order+"limit=500", 0
		for path != "" {
			got := s.send(t, request{method: "GET", path: path})
			var page []struct{ ID string }
			if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 || len(got.body) > 8<<20 || len(page) == 0 {
				t.Fatalf("a page of %d bytes and %d feeds: %d %.200s, %v", len(got.body), len(page), got.status, got.body, err)
			}
			for _, f := range page {
				ids = append(ids, f.ID)
			}
			link := got.header.Get("Link")
			path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
			pages++
		}
		if strings.Join(ids, " ") != strings.Join(want, " ") || pages < 2 {
			t.Errorf("%s: %d pages have %v, want two or more with %v", order, pages, ids, want)
		}
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + uploaded.ID + "/versions"}); got.status != 200 || !strings.HasPrefix(got.body, `[{"version":1,`) {
		t.Errorf("the versions: %d %s", got.status, got.body)
	}
}

// TestSessionCookieOverTLS holds that the cookie of a session has the prefix that binds it to
// its host where the browser came over TLS, that only this one counts there, and that
// nobody on the way keeps who it is.
func TestSessionCookieOverTLS(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, key := range []string{adminKey, s.newKey(t, "", "api:read").Key} {
		for proto, name := range map[string]string{"https": "__Host-feedmill_session", "http": "feedmill_session"} {
			forwarded := [2]string{"X-Forwarded-Proto", proto}
			made := s.send(t, request{method: "POST", path: "/sessions", key: "-", body: `{"key":"` + key + `"}`, header: [][2]string{forwarded}})
			cookie, attributes, _ := strings.Cut(made.header.Get("Set-Cookie"), ";")
			token, ok := strings.CutPrefix(cookie, name+"=")
			if made.status != 201 || !ok || !strings.Contains(attributes, "Path=/;") || strings.Contains(attributes, "Domain") || strings.Contains(attributes, "Secure") != (proto == "https") {
				t.Fatalf("over %s: %d %v", proto, made.status, made.header)
			}
			me := s.send(t, request{method: "GET", path: "/me", key: "-", header: [][2]string{forwarded, {"Cookie", cookie}}})
			if me.status != 200 || me.header.Get("Cache-Control") != "no-store" {
				t.Errorf("over %s: %d %v", proto, me.status, me.header)
			}
			if page := s.send(t, request{method: "GET", path: "/ui/feeds", key: "-", header: [][2]string{forwarded, {"Cookie", cookie}}}); page.status != 200 {
				t.Errorf("a page over %s: %d %v", proto, page.status, page.header)
			}
			if proto == "https" {
				if me := s.send(t, request{method: "GET", path: "/me", key: "-", header: [][2]string{forwarded, {"Cookie", "feedmill_session=" + token}}}); me.status != 401 {
					t.Errorf("a cookie without the prefix over TLS: %d", me.status)
				}
			}
		}
	}
}

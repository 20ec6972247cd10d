package app

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func readIDs(t *testing.T, r reply) (ids []string) {
	t.Helper()
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 || list == nil {
		t.Fatalf("%d, %v: %s", r.status, err, r.body)
	}
	for _, item := range list {
		ids = append(ids, item.ID)
	}
	return ids
}

// next is the path of the next page, "" on the last one.
func (r reply) next(t *testing.T) string {
	t.Helper()
	link := r.header.Get("Link")
	if link == "" {
		return ""
	}
	target, ok := strings.CutSuffix(link, `>; rel="next"`)
	if target, ok2 := strings.CutPrefix(target, "<"); ok && ok2 {
		return target
	}
	t.Fatalf("the link is %q", link)
	return ""
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	workspace := s.newWorkspace(t, "paged")
	admin := s.newKey(t, workspace.ID, "admin")
	all := []string{admin.ID}
	for range 10 {
		all = append(all, s.newKey(t, workspace.ID, "api:read").ID)
	}
	slices.Reverse(all) // newest first

	for _, limit := range []int{1, 2, 3, 5, 10, 11, 12, 500} {
		var walked []string
		pages := 0
		for path := fmt.Sprintf("/keys?limit=%d", limit); path != ""; pages++ {
			page := s.send(t, request{method: "GET", path: path, key: admin.Key})
			ids := readIDs(t, page)
			if len(ids) > limit {
				t.Fatalf("limit %d: a page has %d", limit, len(ids))
			}
			walked = append(walked, ids...)
			if path = page.next(t); path != "" && !strings.HasPrefix(path, "/keys?") {
				t.Fatalf("the next page is at %s", path)
			}
		}
		if want := (len(all) + limit - 1) / limit; !slices.Equal(walked, all) || pages != want {
			t.Errorf("limit %d: %d pages with %q, want %d pages with %q", limit, pages, walked, want, all)
		}
	}

	t.Run("default limit", func(t *testing.T) {
		for range 45 {
			s.newKey(t, workspace.ID, "api:read")
		}
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/keys", key: admin.Key})); len(ids) != 50 {
			t.Errorf("a page has %d, want 50", len(ids))
		}
	})
	t.Run("the link keeps the other parameters", func(t *testing.T) {
		page := s.send(t, request{method: "GET", path: "/keys?workspaceId=" + workspace.ID + "&limit=2"})
		next, err := url.Parse(page.next(t))
		if err != nil {
			t.Fatal(err)
		}
		if q := next.Query(); q.Get("workspaceId") != workspace.ID || q.Get("limit") != "2" || q.Get("cursor") == "" {
			t.Errorf("the next page is at %s", next)
		}
	})
	t.Run("what is added later does not shift the pages", func(t *testing.T) {
		first := s.send(t, request{method: "GET", path: "/keys?limit=3", key: admin.Key})
		before := readIDs(t, s.send(t, request{method: "GET", path: first.next(t), key: admin.Key}))
		s.newKey(t, workspace.ID, "api:read")
		after := readIDs(t, s.send(t, request{method: "GET", path: first.next(t), key: admin.Key}))
		if !slices.Equal(before, after) {
			t.Errorf("the second page was %q and is %q", before, after)
		}
	})
	t.Run("an empty list", func(t *testing.T) {
		empty := s.newWorkspace(t, "empty")
		if got := s.send(t, request{method: "GET", path: "/keys?workspaceId=" + empty.ID}); got.body != "[]" || got.header.Get("Link") != "" {
			t.Errorf("got %s, Link %q", got.body, got.header.Get("Link"))
		}
	})
	t.Run("the workspace of one who sees only its own", func(t *testing.T) {
		var seen []string
		for path := "/workspaces?limit=1"; path != ""; {
			page := s.send(t, request{method: "GET", path: path, key: admin.Key})
			seen = append(seen, readIDs(t, page)...)
			path = page.next(t)
		}
		if !slices.Equal(seen, []string{workspace.ID}) {
			t.Errorf("it sees %q", seen)
		}
		past := base64.RawURLEncoding.EncodeToString([]byte(workspace.ID))
		if got := s.send(t, request{method: "GET", path: "/workspaces?cursor=" + past, key: admin.Key}); got.body != "[]" {
			t.Errorf("past its own it sees %s", got.body)
		}
	})
	t.Run("cursors of other lists", func(t *testing.T) {
		workspaces := s.send(t, request{method: "GET", path: "/workspaces?limit=1"})
		next, err := url.Parse(workspaces.next(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, cursor := range []string{
			next.Query().Get("cursor"), "", "x", "!", base64.RawURLEncoding.EncodeToString([]byte("key_")),
			base64.URLEncoding.EncodeToString([]byte(feedmill.NewID("key"))) + "=", string(feedmill.NewID("key")),
		} {
			got := s.send(t, request{method: "GET", path: "/keys?cursor=" + url.QueryEscape(cursor)})
			if p := got.problem(t); got.status != 400 || !slices.Equal(p.places(), []string{"parameter cursor"}) {
				t.Errorf("%q is answered %d: %s", cursor, got.status, got.body)
			}
		}
	})
	t.Run("a cursor shows nothing of another workspace", func(t *testing.T) {
		other := s.newKey(t, s.newWorkspace(t, "other").ID, "admin")
		first := s.send(t, request{method: "GET", path: "/keys?limit=1", key: admin.Key})
		for _, id := range readIDs(t, s.send(t, request{method: "GET", path: first.next(t), key: other.Key})) {
			if id != other.ID {
				t.Errorf("it shows %s", id)
			}
		}
	})
}

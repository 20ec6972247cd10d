package app

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestWorkspaceIsDeleted fills two workspaces, deletes one, and finds nothing of it in the
// records and in the folder, and everything of the other one.
func TestWorkspaceIsDeleted(t *testing.T) {
	for _, store := range []string{"sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			d := readDocument(t)
			o := setup{}
			if store == "postgres" {
				o.env = []string{"FEEDMILL_DATABASE_URL=" + pgtest.New(t), "FEEDMILL_VAULT_KEY=a key that all replicas of the test share"}
			}
			s := start(t, o)
			one, two := newTenant(t, s, d, "one"), newTenant(t, s, d, "two")
			var mine []made
			if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: "/workspaces", key: one.key.Key}).body), &mine); err != nil || len(mine) != 1 {
				t.Fatalf("a tenant sees %d workspaces, %v", len(mine), err)
			}
			path := "/workspaces/" + mine[0].ID
			for _, wrong := range []struct {
				path, key string
				status    int
			}{
				{path, "", 400}, {path + "?confirm=two", "", 409}, {path + "?confirm=one", one.key.Key, 403}, {path + "?confirm=one", two.key.Key, 404},
			} {
				if got := s.send(t, request{method: "DELETE", path: wrong.path, key: wrong.key}); got.status != wrong.status {
					t.Fatalf("DELETE %s is answered %d: %s", wrong.path, got.status, got.body)
				}
			}
			if got := s.send(t, request{method: "DELETE", path: path + "?confirm=one"}); got.status != 202 {
				t.Fatalf("the deletion is answered %d: %s", got.status, got.body)
			}
			if got := s.send(t, request{method: "GET", path: "/data_feeds", key: one.key.Key}); got.status != 401 {
				t.Errorf("a key of the workspace is answered %d", got.status)
			}
			if got := s.send(t, request{method: "PATCH", path: path, body: `{"name":"other"}`}); got.status != 409 && got.status != 404 {
				t.Errorf("a change is answered %d: %s", got.status, got.body)
			}
			eventually(t, func() bool { return s.send(t, request{method: "GET", path: path}).status == 404 })
			for _, id := range one.known.ids {
				if strings.HasPrefix(id, "df_") {
					noFileNames(t, s.app.config.Data, id)
				}
			}
			two.holds(t)
			s.newWorkspace(t, "one") // whose name is free
			home, err := s.app.store.WorkspaceByName(t.Context(), feedmill.DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.send(t, request{method: "DELETE", path: "/workspaces/" + string(home.ID) + "?confirm=default"}); got.status != 409 || got.problem(t).Type != "/problems/default-workspace" {
				t.Errorf("the deletion of default is answered %d: %s", got.status, got.body)
			}
		})
	}
}

// noFileNames finds no file with an id in its path.
func noFileNames(t *testing.T, folder, id string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if err == nil && !entry.IsDir() && strings.Contains(path, id) {
			t.Errorf("%s is left", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWorkspaceQuotas sets each quota of one of two workspaces and exceeds it.
func TestWorkspaceQuotas(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	w, other := s.newWorkspace(t, "one"), s.newWorkspace(t, "two")
	key, free := s.newKey(t, w.ID, everyScope...).Key, s.newKey(t, other.ID, everyScope...).Key
	set := func(quotas string) {
		t.Helper()
		if got := s.send(t, request{method: "PATCH", path: "/workspaces/" + w.ID, body: `{"quotas":` + quotas + `}`}); got.status != 200 {
			t.Fatalf("the change is answered %d: %s", got.status, got.body)
		}
	}
	upload := func(key string) reply {
		return s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload", key: key, body: "a,b\n1,2\n", header: [][2]string{{"Content-Type", "text/csv"}}})
	}
	refused := func(got reply, status int, problem string) {
		t.Helper()
		if got.status != status || got.problem(t).Type != "/problems/"+problem {
			t.Errorf("it is answered %d, want %d: %s", got.status, status, got.body)
		}
	}
	subscribe := request{method: "POST", path: "/events/subscriptions", body: `{"name":"n","url":"https://example.com/","events":["metric.created"]}`}
	set(`{"subscriptions":1}`)
	for i, k := range []string{key, key, free, free} {
		q := subscribe
		q.key = k
		if got := s.send(t, q); i == 1 {
			refused(got, 409, "quota-reached")
		} else if got.status != 201 {
			t.Errorf("subscription %d is answered %d: %s", i, got.status, got.body)
		}
	}
	var f struct {
		ID string `json:"id"`
	}
	first := upload(key)
	first.data(t, &f)
	set(`{"storedBytes":1}`)
	refused(upload(key), 409, "stored-bytes")
	set(`{"storedBytes":null,"concurrentUploads":0}`)
	refused(upload(key), 429, "too-many-uploads")
	set(`{"concurrentUploads":null,"concurrentQueries":0}`)
	if got := upload(key); got.status != 201 {
		t.Errorf("an upload is answered %d: %s", got.status, got.body)
	}
	for _, path := range []string{"/data", "/profile", "/changes?from=1"} {
		refused(s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + path, key: key}), 429, "too-many-queries")
	}
	set(`{"concurrentQueries":1}`)
	for range 3 { // one after the other
		if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data", key: key}); got.status != 200 {
			t.Errorf("a query is answered %d: %s", got.status, got.body)
		}
	}
	if got := upload(free); got.status != 201 {
		t.Errorf("the other workspace is answered %d: %s", got.status, got.body)
	}
	for _, wrong := range []string{`{"storedBytes":-1}`, `{"concurrentUploads":33}`, `{"subscriptions":"1"}`, `{"queries":1}`} {
		if got := s.send(t, request{method: "PATCH", path: "/workspaces/" + w.ID, body: `{"quotas":` + wrong + `}`}); got.status != 400 || !strings.Contains(got.body, "/quotas/") {
			t.Errorf("%s is answered %d: %s", wrong, got.status, got.body)
		}
	}
	// An admin of the workspace itself changes nothing.
	for _, body := range []string{`{"name":"mine"}`, `{"quotas":{"subscriptions":null}}`, `{"externalId":"x"}`} {
		if got := s.send(t, request{method: "PATCH", path: "/workspaces/" + w.ID, key: key, body: body}); got.status != 403 {
			t.Errorf("%s of a tenant is answered %d: %s", body, got.status, got.body)
		}
		if got := s.send(t, request{method: "PATCH", path: "/workspaces/" + w.ID, key: free, body: body}); got.status != 404 {
			t.Errorf("%s of another tenant is answered %d: %s", body, got.status, got.body)
		}
	}
	shown := s.send(t, request{method: "GET", path: "/workspaces/" + w.ID, key: key})
	for _, part := range []string{`"subscriptions":1,"concurrentUploads":null,"concurrentQueries":1}`, `"feeds":2,"subscriptions":1,`, `"name":"one","externalId":null,"metadata":{}`} {
		if !strings.Contains(shown.body, part) {
			t.Errorf("the workspace lacks %s: %s", part, shown.body)
		}
	}
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// TestChildrenFollowAfterAKill kills the server as soon as the store has a new version of a
// feed. After the restart the feeds that are built from it follow: a query, and a REST feed
// that is repeated for its rows.
func TestChildrenFollowAfterAKill(t *testing.T) { onBothStores(t, followAfterKills) }

func followAfterKills(t *testing.T, env []string) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `[{"of":%q}]`, r.URL.Path) }))
	defer api.Close()
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	begin := func() *process {
		p, err := launch(folder, env, "--data="+data)
		return p.until(t, err)
	}
	p := begin()
	status, parent, err := upload(p.url, "text/csv", "id\n1\n")
	if status != http.StatusCreated || err != nil {
		t.Fatal(status, err)
	}
	each, err := p.client(sharedFirstKey).CreateRestFeed(t.Context(), client.RestFeed{
		Spec: fmt.Appendf(nil, `{"request":{"url":"%s/{{p.id}}"},"each":{"in":{"feedId":%q},"as":"p","include":["id"]}}`, api.URL, parent),
	})
	if err != nil {
		t.Fatal(err)
	}
	query, err := p.client(sharedFirstKey).CreateQueryFeed(t.Context(), client.QueryFeed{
		Spec: fmt.Appendf(nil, `{"serviceName":"feeds","viewName":%q,"query":{"fields":[{"field":"id"}]}}`, parent),
	})
	if err != nil {
		t.Fatal(err)
	}
	followed := func(rows int) {
		t.Helper()
		for _, id := range []string{each.ID, query.ID} {
			eventually(t, "a feed follows its parent", func() bool {
				feed, err := p.client(sharedFirstKey).DataFeed(t.Context(), id)
				return err == nil && feed.State == "ready" && feed.RowCount == int64(rows)
			})
		}
	}
	followed(1)
	put := func(body string) {
		_, _, _ = request(t.Context(), sharedFirstKey, http.MethodPut, p.url+"/data_feeds/"+parent+"/data", map[string]string{"Content-Type": "text/csv"}, strings.NewReader(body))
	}
	body := "id\n1\n"
	rounds := longOr(1, 100)
	for round := range rounds {
		body += fmt.Sprintf("%d\n", round+2)
		version := fmt.Sprintf("feeds WHERE id = '%s' AND version = %d", parent, round+2)
		db, _ := openStore(t, env, data)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			put(body)
		}()
		for deadline, n := time.Now().Add(time.Minute), 0; n == 0; {
			if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+version).Scan(&n); err != nil && time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		p.kill()
		db.Close()
		<-sent
		p = begin()
		followed(round + 2)
	}
	p.kill()

	// Feeds of earlier releases have no links to their parents until the server starts.
	db, _ := openStore(t, env, data)
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`DELETE FROM feed_parents`)
	p = begin()
	body += "-1\n"
	put(body)
	if n := countRows(t, env, data, "refreshes WHERE state <> 'succeeded'"); n > 0 {
		t.Fatalf("%d refreshes are requested", n)
	}
	p.kill()
	exec(`INSERT INTO unlinked_feeds (workspace_id, feed_id) SELECT workspace_id, id FROM feeds WHERE type <> 'dataUpload'`)
	p = begin()
	followed(rounds + 2)
	body += "-2\n"
	put(body)
	followed(rounds + 3)
	p.kill()
	if n := countRows(t, env, data, "unlinked_feeds"); n > 0 {
		t.Errorf("%d feeds are not linked", n)
	}
}

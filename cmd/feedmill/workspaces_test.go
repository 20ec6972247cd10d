package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestDeletionSurvivesKills deletes one of two workspaces and kills the server again and again
// meanwhile. In the end nothing of that workspace is left, and everything of the other one.
func TestDeletionSurvivesKills(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		deleteUnderKills(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		deleteUnderKills(t, onPostgres(pgtest.New(t))...)
	})
}

func deleteUnderKills(t *testing.T, env ...string) {
	settings := append(env, append(onLoopback, "FEEDMILL_BOOTSTRAP_KEY="+sharedFirstKey)...)
	folder := filepath.Join(t.TempDir(), "data")
	p := serve(t, folder, settings...)
	ctx := t.Context()
	c := p.client(sharedFirstKey)
	feeds := longOr(25, 300)
	fill := func(name string) (w client.Workspace, key string, ids []string) {
		w, err := c.CreateWorkspace(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		k, err := c.CreateKey(ctx, client.NewKey{Name: name, Scopes: []string{"api:read", "api:write", "events:publish"}, WorkspaceID: w.ID})
		if err != nil {
			t.Fatal(err)
		}
		tenant := p.client(k.Secret)
		if _, err := tenant.CreateSubscription(ctx, client.NewSubscription{Name: "s", URL: "https://127.0.0.1:1/", Events: []string{"metric.created"}}); err != nil {
			t.Fatal(err)
		}
		for i := range feeds {
			f, err := tenant.CreateDataFeed(ctx, client.Upload{Data: strings.NewReader(fmt.Sprintf("a,b\n%d,2\n", i)), Format: "csv", FileName: "f.csv"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, f.ID)
			if _, err := tenant.Publish(ctx, client.NewEvent{Type: "metric.created", ResourceID: f.ID, Data: map[string]any{"i": i}}); err != nil {
				t.Fatal(err)
			}
		}
		return w, k.Secret, ids
	}
	doomed, doomedKey, doomedFeeds := fill("doomed")
	_, keptKey, keptFeeds := fill("kept")
	if _, err := c.DeleteWorkspace(ctx, doomed.ID, doomed.Name); err != nil {
		t.Fatal(err)
	}
	for range longOr(3, 40) {
		time.Sleep(time.Duration(rand.IntN(int(200 * time.Millisecond))))
		p.kill()
		p = serve(t, folder, settings...)
		wantProblem(t, second(p.client(doomedKey).Me(ctx)), client.Problem{Type: "/problems/unauthenticated", Status: http.StatusUnauthorized})
	}
	deadline := time.Now().Add(5 * time.Minute)
	for {
		_, err := p.client(sharedFirstKey).Workspace(ctx, doomed.ID)
		if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Status == http.StatusNotFound {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the workspace is still there: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	kept := p.client(keptKey)
	for _, id := range keptFeeds {
		if f, err := kept.DataFeed(ctx, id); err != nil || f.RowCount != 1 {
			t.Errorf("feed %s of the other workspace: %d rows, %v", id, f.RowCount, err)
		}
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) || err == nil && entry.IsDir() {
			return nil
		}
		for _, id := range doomedFeeds {
			if strings.Contains(path, id) {
				t.Errorf("%s is left", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	p.mustStop(t)
}

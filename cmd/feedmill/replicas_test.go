package main

import (
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

const (
	sharedVaultKey = "FEEDMILL_VAULT_KEY=all-replicas-share-this-key-of-theirs"
	sharedFirstKey = "all-replicas-know-this-first-key"
)

// onPostgres is the environment of a replica.
func onPostgres(url string) []string {
	return []string{"FEEDMILL_DATABASE_URL=" + url, sharedVaultKey, "FEEDMILL_BOOTSTRAP_KEY=" + sharedFirstKey}
}

// TestReplicasStartTogether starts several on an empty database at once: one
// of them makes the schema, the keyset and the first key, and all serve.
func TestReplicasStartTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	replicas := make([]*process, 4)
	failures := make([]error, len(replicas))
	var wg sync.WaitGroup
	for i := range replicas {
		folder := t.TempDir()
		wg.Go(func() {
			replicas[i], failures[i] = launch(folder, onPostgres(url), "--data="+filepath.Join(folder, "data"))
		})
	}
	wg.Wait()
	for i, p := range replicas {
		if failures[i] != nil {
			t.Errorf("replica %d: %v", i, failures[i])
			continue
		}
		t.Cleanup(p.kill)
	}
	if t.Failed() {
		return
	}

	for i, p := range replicas {
		if ids := p.keyIDs(t, sharedFirstKey); len(ids) != i+1 {
			t.Errorf("replica %d sees the keys %v, want %d", i, ids, i+1)
		}
		made, err := p.client(sharedFirstKey).CreateKey(t.Context(), client.NewKey{Name: "of one", Scopes: []string{"admin"}})
		if err != nil {
			t.Fatal(err)
		}
		for j, other := range replicas {
			if !slices.Contains(other.keyIDs(t, made.Secret), made.ID) {
				t.Errorf("replica %d does not list the key that replica %d made", j, i)
			}
		}
	}
	for _, p := range replicas {
		p.mustStop(t)
	}
}

// TestFirstKeyAmongReplicas leaves the first key to the replicas: exactly one
// of them makes it.
func TestFirstKeyAmongReplicas(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	env := []string{"FEEDMILL_DATABASE_URL=" + url, sharedVaultKey}
	first := serve(t, t.TempDir(), env...)
	key := first.mustFirstKey(t)
	second := serve(t, t.TempDir(), env...)
	second.keyIDs(t, key)
	second.mustStop(t)
	if strings.Contains(second.stdout.String(), "fm_") {
		t.Error("the second replica prints a key")
	}
}

func TestReplicaWithAnotherVaultKeyIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	serve(t, t.TempDir(), onPostgres(url)...)

	const other = "some-other-key-that-nobody-has-shared"
	text := refused(t, t.TempDir(), "FEEDMILL_DATABASE_URL="+url, "FEEDMILL_VAULT_KEY="+other)
	if !strings.Contains(text, "the vault key does not match this store") {
		t.Errorf("the refusal says\n%s", text)
	}
	if strings.Contains(text, other) {
		t.Error("the refusal shows the key")
	}
}

// TestDatabaseGoesAndComesBack stops the database under a running server.
func TestDatabaseGoesAndComesBack(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t, pgtest.Options{})
	p := serve(t, t.TempDir(), onPostgres(database.NewDatabase(t))...)
	before := p.keyIDs(t, sharedFirstKey)

	for _, mode := range []pgtest.Mode{pgtest.Fast, pgtest.Immediate} {
		database.Stop(t, mode)
		for _, c := range []struct {
			method, path string
			status       int
		}{
			{"GET", "/healthz", 200},
			{"GET", "/readyz", 503},
			{"GET", "/keys", 503},
			{"POST", "/keys", 503},
			{"GET", "/healthz", 200},
		} {
			resp := p.request(t, c.method, c.path)
			if resp.StatusCode != c.status {
				t.Errorf("stopped %s: %s %s answers %d, want %d", mode, c.method, c.path, resp.StatusCode, c.status)
			}
			if hint := resp.Header.Get("Retry-After"); (hint != "") != (c.status == 503) {
				t.Errorf("stopped %s: %s %s answers %d with Retry-After %q", mode, c.method, c.path, c.status, hint)
			}
		}

		database.Start(t)
		if resp := p.request(t, "GET", "/readyz"); resp.StatusCode != 200 {
			t.Errorf("started again: GET /readyz answers %d, want 200", resp.StatusCode)
		}
		if after := p.keyIDs(t, sharedFirstKey); !slices.Equal(after, before) {
			t.Errorf("started again: there are the keys %v, want %v", after, before)
		}
	}
	p.mustStop(t)
}

// request makes a request with the first key that the replicas share.
func (p *process) request(t *testing.T, method, path string) *http.Response {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(`{"name":"n","scopes":["api:read"]}`)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+sharedFirstKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

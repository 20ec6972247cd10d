package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestStoreOfARelease starts the program on what a release has left behind: all
// is there, and goes on. TestMakeStore says how the archives were made.
func TestStoreOfARelease(t *testing.T) {
	t.Parallel()
	mariaDB := lazyMariaDB(t)
	for release := firstRelease; release <= lastRelease; release++ {
		t.Run(fmt.Sprintf("%d/sqlite", release), func(t *testing.T) {
			t.Parallel()
			folder := unpack(t, fmt.Sprintf("testdata/store-%d-sqlite.tar.gz", release))
			openRelease(t, mariaDB, readRelease(t, folder), folder, "sqlite3", filepath.Join(folder, "data", "feedmill.db"))
		})
		t.Run(fmt.Sprintf("%d/postgres", release), func(t *testing.T) {
			t.Parallel()
			folder := unpack(t, fmt.Sprintf("testdata/store-%d-postgres.tar.gz", release))
			url := restoreDump(t, folder)
			openRelease(t, mariaDB, readRelease(t, folder), folder, "pgx", url, "FEEDMILL_DATABASE_URL="+url)
		})
	}
}

// TestStoreThroughReleases starts the program on what the first release has left behind and
// the last one has migrated: feeds mean what they meant to the last one.
func TestStoreThroughReleases(t *testing.T) {
	if longOr(true, false) {
		t.Skip("this is for FEEDMILL_LONG=1; the migrations have tests for every run")
	}
	t.Parallel()
	mariaDB := lazyMariaDB(t)
	t.Run("sqlite", func(t *testing.T) {
		folder := unpack(t, "testdata/store-1-sqlite.tar.gz")
		data := filepath.Join(folder, "data")
		if err := changeFile(t.Context(), data, append(lastMigrations(t, "sqlite"), fmt.Sprintf(`PRAGMA user_version = %d`, lastVersion))...); err != nil {
			t.Fatal(err)
		}
		has := readRelease(t, folder)
		has.Through = true
		openRelease(t, mariaDB, has, folder, "sqlite3", filepath.Join(data, "feedmill.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		folder := unpack(t, "testdata/store-1-postgres.tar.gz")
		url := restoreDump(t, folder)
		if err := changeDatabase(t.Context(), url, append(lastMigrations(t, "postgres"), fmt.Sprintf(`UPDATE schema_version SET version = %d`, lastVersion))...); err != nil {
			t.Fatal(err)
		}
		has := readRelease(t, folder)
		has.Through = true
		openRelease(t, mariaDB, has, folder, "pgx", url, "FEEDMILL_DATABASE_URL="+url)
	})
}

// The versions of the databases of the first and of the last release.
const firstVersion, lastVersion = 6, 26

// lastMigrations are those that the last release applied to a database of the first.
func lastMigrations(t *testing.T, engine string) (statements []string) {
	t.Helper()
	for version := firstVersion + 1; version <= lastVersion; version++ {
		files, err := filepath.Glob(fmt.Sprintf("../../internal/store/%s/migrations/%04d_*.sql", engine, version))
		if err != nil || len(files) != 1 {
			t.Fatalf("migration %d: %q, %v", version, files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		statements = append(statements, string(text))
	}
	return statements
}

// restoreDump makes a database of the dump that is in the folder of a release.
func restoreDump(t *testing.T, folder string) (url string) {
	t.Helper()
	dump, err := os.ReadFile(filepath.Join(folder, "dump.sql"))
	if err != nil {
		t.Fatal(err)
	}
	url = pgtest.New(t)
	if err := changeDatabase(t.Context(), url, string(dump)); err != nil {
		t.Fatal(err)
	}
	return url
}

// readRelease reads what the folder of a release has.
func readRelease(t *testing.T, folder string) (has released) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "released.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &has); err != nil {
		t.Fatal(err)
	}
	return has
}

// within is of what is answered now what a release answered: the API grows by
// fields, and only so.
func within(then, now any) any {
	switch then := then.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok {
			kept := make(map[string]any)
			for name := range then {
				if value, ok := now[name]; ok {
					kept[name] = within(then[name], value)
				}
			}
			return kept
		}
	case []any:
		if now, ok := now.([]any); ok && len(now) == len(then) {
			kept := make([]any, len(now))
			for i := range now {
				kept[i] = within(then[i], now[i])
			}
			return kept
		}
	}
	return now
}

// forget removes a member from all objects of a document.
func forget(document any, name string) {
	switch document := document.(type) {
	case map[string]any:
		delete(document, name)
		for _, value := range document {
			forget(value, name)
		}
	case []any:
		for _, value := range document {
			forget(value, name)
		}
	}
}

// openRelease starts the program on a release's folder. The database is asked
// besides, where its own word is not enough.
func openRelease(t *testing.T, mariaDB func(*testing.T) int, has released, folder, driver, database string, env ...string) {
	t.Helper()
	out := newOutside(t)
	dir := t.TempDir()
	env = slices.Concat(out.env(), []string{lastSchedule}, sourcesEnv(has.Release, folder), env)
	killedStarts(t, dir, filepath.Join(folder, "data"), database, env)
	p, err := launch(dir, env, "--data="+filepath.Join(folder, "data"))
	p = p.until(t, err)

	for path, want := range has.Answers {
		_, got, err := send(http.MethodGet, p.url+path, "")
		if err != nil {
			t.Fatal(err)
		}
		var then, now any = want, string(got)
		if json.Valid([]byte(want)) {
			if err := errors.Join(json.Unmarshal([]byte(want), &then), json.Unmarshal(got, &now)); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"plannedAttempts", "health", "disablingAt", "overlapUntil"} { // which change or end by themselves
				forget(then, name)
			}
		}
		if diff := cmp.Diff(then, within(then, now)); diff != "" {
			t.Errorf("%s (-release +now):\n%s", path, diff)
		}
	}
	if keys := p.keyIDs(t, sharedFirstKey); len(keys) != 2 {
		t.Errorf("there are the keys %v, want two", keys)
	}
	if again := p.keep(t); again != has.Kept {
		t.Errorf("a request of the release is answered %s\nwant %s", again, has.Kept)
	}
	deliveriesGoOn(t, p, out, has)
	feedsGoOn(t, p, out, has)
	urlsAreSealed(t, driver, database)
	scenariosGoOn(t, &player{process: p, out: out, databases: newDatabases(t, has.Release, dir, mariaDB), keys: has.Keys}, has)
	p.mustStop(t)
}

// urlsAreSealed holds the URLs of the release's subscriptions, deleted ones too,
// not to stand in the store as anybody can read them.
func urlsAreSealed(t *testing.T, driver, database string) {
	t.Helper()
	db, err := sql.Open(driver, database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	eventually(t, "every URL is sealed", func() bool {
		var plain int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM subscriptions WHERE url LIKE 'http%'`).Scan(&plain); err != nil {
			t.Fatal(err)
		}
		return plain == 0
	})
}

// deliveriesGoOn holds what was not delivered to come, and what is published
// now, with the secrets and the headers of the release.
func deliveriesGoOn(t *testing.T, p *process, out *outside, has released) {
	t.Helper()
	verify := func(x exchange) {
		t.Helper()
		path, _, _ := strings.Cut(x.uri, "?")
		library, err := standardwebhooks.NewWebhook(has.Secrets[path])
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Verify([]byte(x.payload()), x.header); err != nil {
			t.Errorf("%s %s: %v", x.uri, x.body, err)
		}
	}
	x := out.await(t, "/failing", 1)[0]
	verify(x)
	if x.header.Get("x-service-attempt") != "2" {
		t.Errorf("attempt %s comes, want the second", x.header.Get("x-service-attempt"))
	}

	p.setState(t, has.IDs["paused"], "active")
	var types []string
	for _, x := range out.await(t, "/paused", 2) {
		verify(x)
		types = append(types, eventType(t, x))
	}
	if want := []string{"metric.created", "metric.deleted"}; !slices.Equal(types, want) {
		t.Errorf("%q were delivered, want %q", types, want)
	}

	c := p.client(sharedFirstKey)
	for d, err := range c.Deliveries(t.Context(), has.IDs["exhausted"], client.DeliveryQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.RetryDelivery(t.Context(), d.ID); err != nil {
			t.Error(err)
		}
	}
	verify(out.await(t, "/exhausted", 1)[0])

	for id, duplicate := range map[string]bool{"order-1": true, "order-3": false} {
		got, err := c.Publish(t.Context(), client.NewEvent{ID: id, Type: "metric.created", ResourceID: "m_3"})
		if err != nil || got.Duplicate != duplicate {
			t.Errorf("publishing %s: %+v, %v", id, got, err)
		}
	}
	x = out.await(t, "/hook", 1)[0]
	verify(x)
	if x.header.Get("X-Team") != "blue" || x.header.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("it came with %v", x.header)
	}
}

func eventType(t *testing.T, x exchange) string {
	t.Helper()
	var e struct{ Type string }
	if err := json.Unmarshal([]byte(x.payload()), &e); err != nil {
		t.Error(err)
	}
	return e.Type
}

// feedsGoOn fetches and uploads what is new beside what the release has.
func feedsGoOn(t *testing.T, p *process, out *outside, has released) {
	t.Helper()
	c := p.client(sharedFirstKey)
	out.order(`{"id":2,"total":8.00,"at":"2026-11-02T00:00:00Z"}`)
	r, err := c.RefreshDataFeed(t.Context(), has.IDs["orders"])
	if err != nil {
		t.Fatal(err)
	}
	if r = awaitRefresh(t, c, has.IDs["orders"], r.ID); r.State != "succeeded" {
		t.Errorf("%+v", r)
	}
	if got, want := out.fetched(), []string{"Bearer s3cret since 2026-11-01T11:00:00Z"}; !slices.Equal(got, want) {
		t.Errorf("the shop was asked %q, want %q", got, want)
	}
	_, err = c.ReplaceData(t.Context(), has.IDs["people"], client.Upload{Format: "ndjson", Data: strings.NewReader(`{"id":3,"name":"Bo"}` + "\n")})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/data_feeds/" + has.IDs["orders"] + "/data?format=ndjson&fields=id,total&sort=id": `{"id":1,"total":12.50}` + "\n" + `{"id":2,"total":8.00}` + "\n",
		"/data_feeds/" + has.IDs["people"] + "/data?format=ndjson&fields=id,name&sort=id":  `{"id":1,"name":"Zoe"}` + "\n" + `{"id":2,"name":"Ada"}` + "\n" + `{"id":3,"name":"Bo"}` + "\n",
	} {
		if _, got, err := send(http.MethodGet, p.url+path, ""); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v", path, got, err)
		}
	}
}

package app

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var makeQueries = flag.String("make-queries", "", "the program of a release, to make testdata/queries-2.zip with")

// releasedQueries is the archive of a store that a release filled with queries on tables and feeds. In
// it is the data folder, and a list of the queries.
const (
	releasedQueries = "testdata/queries-2.zip"
	releasedList    = "queries.json"
)

// releasedQuery is an upstream as it was when the release created the feed.
type releasedQuery struct {
	Connector, Name, Schema, Kind, Spec string
	Declared                            bool
	Rows                                []releasedRow
	Feed, Parent                        string
}

type releasedRow struct {
	ID int
	V  *string
}

// unpackQueries writes the data folder of the release to a folder, and returns what is in its store by
// connector.
func unpackQueries(t *testing.T, folder string) map[string][]releasedQuery {
	t.Helper()
	archive, err := zip.OpenReader(releasedQueries)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := os.CopyFS(folder, archive); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "vault.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, releasedList))
	if err != nil {
		t.Fatal(err)
	}
	var list []releasedQuery
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string][]releasedQuery{}
	for _, q := range list {
		all[q.Connector] = append(all[q.Connector], q)
	}
	return all
}

// reconnect makes the connection of the release lead to a database.
func (s *service) reconnect(t *testing.T, db *realDatabase, serviceName string) (id string) {
	t.Helper()
	var list []shownConnection
	got := s.send(t, request{method: "GET", path: "/connections"})
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(c shownConnection) bool { return c.ServiceName == serviceName })
	if got := s.send(t, request{method: "PATCH", path: "/connections/" + list[i].ID, body: toJSON(map[string]any{"config": db.config})}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return list[i].ID
}

// adopt goes on with a feed that a release created. Its source can change before it is refreshed for
// the first time. Fields that are not selected and the schema of a name are exceptions: the release did
// not store them, and that refresh pins them.
func (u *upstream) adopt(t *testing.T, q releasedQuery) {
	u.name, u.schema, u.kind, u.declared, u.parent = q.Name, q.Schema, q.Kind, q.Declared, q.Parent
	u.numbers, u.kept, u.wasText = u.kind != "text", map[string]string{}, u.kind == "text"
	for _, r := range q.Rows {
		u.rows = append(u.rows, upstreamRow{r.ID, r.V})
	}
	i := slices.IndexFunc(pinnedQueries, func(p pinnedQuery) bool { return p.spec == q.Spec })
	if i < 0 {
		t.Fatalf("%s has no query %s; make it again", releasedQueries, q.Spec)
	}
	u.query = pinnedQueries[i]
	if u.schema != "" {
		u.db.do(t, "CREATE SCHEMA "+u.schema)
	}
	if u.db != nil {
		u.write(t)
	}
	u.service.send(t, request{method: "GET", path: "/data_feeds/" + q.Feed}).data(t, &u.feed)
	u.verify(t, "created by a release", true)
	u.earlier, u.unrefreshed = true, true
	if strings.Contains(q.Spec, `"select":false`) || u.r.IntN(2) == 0 {
		u.refresh(t)
		u.verify(t, "upgraded", true)
		u.unrefreshed = false
	}
}

// TestMakeQueries makes the archive that TestQueriesKeepTheirMeaning begins with:
//
//	go test ./internal/app -run TestMakeQueries -make-queries=/path/to/feedmill
func TestMakeQueries(t *testing.T) {
	if *makeQueries == "" {
		t.Skip("-make-queries does not name the program of a release")
	}
	folder, data := t.TempDir(), t.TempDir()
	s, stop := serveRelease(t, data, folder)
	var list []releasedQuery
	for _, connector := range lawConnectors(folder) {
		var db *realDatabase
		if connector.open != nil {
			db = connector.open(t)
			db.do(t, "CREATE TABLE first (id integer)")
			s.connectTo(t, db, connector.name)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 18 {
			u := &upstream{service: s, db: db, connector: connector.name, r: r, name: fmt.Sprint("r", n), column: "v"}
			u.query = pinnedQueries[n%len(pinnedQueries)]
			u.create(t)
			q := releasedQuery{Connector: connector.name, Name: u.name, Schema: u.schema, Kind: u.kind, Spec: u.query.spec, Declared: u.declared, Feed: u.feed.ID, Parent: u.parent}
			for _, row := range u.rows {
				q.Rows = append(q.Rows, releasedRow{row.id, row.v})
			}
			list = append(list, q)
		}
	}
	stop()
	store := openDatabase(t, "sqlite3", filepath.Join(data, storeFile), "sqlite", nil)
	store.do(t, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
	store.Close()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, releasedList), text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(releasedQueries)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	if err := archive.AddFS(os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
}

// serveRelease starts the program of a release on a data folder.
func serveRelease(t *testing.T, data, folder string) (s *service, stop func()) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.CommandContext(t.Context(), *makeQueries, "serve", "--listen="+address, "--data="+data)
	cmd.Env = slices.Concat(os.Environ(), webhooks.env, []string{"FEEDMILL_BOOTSTRAP_KEY=" + adminKey, "FEEDMILL_DATABASE_DIRS=" + folder})
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s = &service{url: "http://" + address, client: new(http.Client)}
	eventually(t, func() bool {
		got, err := s.try(request{method: "GET", path: "/readyz"})
		return err == nil && got.status == 200
	})
	return s, func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

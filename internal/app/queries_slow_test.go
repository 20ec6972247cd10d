package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSlowDatabasesHoldUpNobodyElse has a workspace whose database takes its time, for
// more feeds than there are places for runs: another workspace looks at its own database,
// makes a feed of it and is not held up.
func TestSlowDatabasesHoldUpNobodyElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	slow := realPostgres(t)
	slow.do(t, "CREATE VIEW slow AS SELECT CAST(pg_sleep(600) AS text) AS id")
	// A connection has four sessions, of which one is left for looking.
	var feeds []shownFeed
	for i := range 12 {
		name := fmt.Sprint("slow ", i)
		s.connectTo(t, slow, name)
		for range 3 {
			var f shownFeed
			spec := `{"serviceName":"` + name + `","viewName":"slow","query":{"fields":[{"field":"id"}]}}`
			s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: spec}).data(t, &f)
			feeds = append(feeds, f)
		}
	}
	eventually(t, func() bool { // as much runs as one workspace gets
		var n int
		if err := slow.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n >= 4
	})
	key := s.newKey(t, s.newWorkspace(t, "other").ID, everyScope...).Key
	own := realSQLite(t, folder)
	own.do(t, "CREATE TABLE things (id INTEGER PRIMARY KEY)", "INSERT INTO things VALUES (1), (2)")
	s.send(t, request{method: "POST", path: "/connections", key: key, body: toJSON(map[string]any{"serviceName": "own", "connector": own.connector, "config": own.config})})
	const things = `{"serviceName":"own","viewName":"things","query":{"fields":[{"field":"id"}]}}`
	if got := s.send(t, request{method: "POST", path: "/query_builder/preview", key: key, body: things}); got.status != 200 || !strings.Contains(got.body, `"rows":[{"id":1},{"id":2}]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	var f shownFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", key: key, body: things, header: [][2]string{{"Prefer", "wait=60"}}}).data(t, &f)
	if f.State != "ready" || f.RowCount != 2 {
		t.Errorf("%+v", f)
	}
	// Nothing of the other workspace has ended meanwhile.
	for _, f := range feeds {
		if s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID}).data(t, &f); f.State != "refreshing" {
			t.Errorf("%+v", f)
		}
	}
}

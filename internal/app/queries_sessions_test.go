package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSessionsOfConnections has refreshes and previews that take long: a refresh never
// takes the last session of a connection, and a preview that finds none is refused.
func TestSessionsOfConnections(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: slices.Clone(webhooks.env)})
	db := realPostgres(t)
	db.do(t, "CREATE TABLE things (id int)", "INSERT INTO things VALUES (1), (2)",
		"CREATE VIEW slow AS SELECT CAST(pg_sleep(600) AS text) AS id", "CREATE VIEW large AS SELECT n AS id, repeat('x', 1000000) AS x FROM generate_series(1, 100) n")
	for _, wrong := range []string{"1", "33", `"4"`, "2.5"} {
		body := strings.Replace(toJSON(map[string]any{"serviceName": "w", "connector": "postgres", "config": db.config}), `"config":{`, `"config":{"maxSessions":`+wrong+`,`, 1)
		if got := s.send(t, request{method: "POST", path: "/connections", body: body}); got.status != 400 || !strings.Contains(got.body, "/config/maxSessions") {
			t.Errorf("maxSessions %s: %d %s", wrong, got.status, got.body)
		}
	}
	db.config["maxSessions"] = 2
	c := s.connectTo(t, db, "warehouse")
	if c.Config["maxSessions"] != 2.0 {
		t.Errorf("%v", c.Config)
	}
	delete(db.config, "maxSessions")
	s.connectTo(t, db, "other")
	query := func(service, view string) string {
		return fmt.Sprintf(`{"serviceName":%q,"viewName":%q,"query":{"fields":[{"field":"id"}]}}`, service, view)
	}
	for range 2 { // of which one runs
		s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: query("warehouse", "slow")})
	}
	running := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	eventually(t, func() bool { return running() == 1 })
	preview := func(service, view string) reply {
		return s.send(t, request{method: "POST", path: "/query_builder/preview", body: query(service, view)})
	}
	if got := preview("warehouse", "things"); got.status != 200 {
		t.Errorf("beside a refresh: %d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.Contains(got.body, `"ok":true`) {
		t.Errorf("beside a refresh: %d %s", got.status, got.body)
	}
	ended := make(chan reply, 1)
	go func() { ended <- preview("warehouse", "slow") }()
	eventually(t, func() bool { return running() == 2 })
	for _, r := range []request{
		{method: "POST", path: "/query_builder/preview", body: query("warehouse", "things")},
		{method: "POST", path: "/connections/" + c.ID + "/test"},
		{method: "GET", path: "/query_builder/services/warehouse/views?refresh=true"},
	} {
		if got := s.send(t, r); got.status != 503 || !strings.Contains(got.body, "/problems/connection-busy") || got.header.Get("Retry-After") == "" {
			t.Errorf("%s beside two that take long: %d %s", r.path, got.status, got.body)
		}
	}
	if got := preview("other", "things"); got.status != 200 {
		t.Errorf("another connection: %d %s", got.status, got.body)
	}
	large := strings.Replace(query("other", "large"), `{"field":"id"}`, `{"field":"id"},{"field":"x"}`, 1)
	if got := s.send(t, request{method: "POST", path: "/query_builder/preview", body: large}); got.status != 422 || !strings.Contains(got.body, "preview-too-large") || !strings.Contains(got.body, "16 MiB") {
		t.Errorf("a large preview: %d %.300s", got.status, got.body)
	}
	db.do(t, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()")
	<-ended
}

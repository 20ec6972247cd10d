package app

import (
	"slices"
	"strings"
	"testing"
)

// TestLongErrorsOfDatabases makes feeds of views that fail with megabytes of text, in which
// the password of the connection is.
func TestLongErrorsOfDatabases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	pg := realPostgres(t)
	pg.config["password"] = "hunter22" // which the server of the tests does not ask for
	pg.do(t, `CREATE FUNCTION long() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'hunter22 %', repeat('é', 8000000); END $$`,
		`CREATE VIEW failing AS SELECT long() AS n FROM generate_series(1, 2)`,
		`CREATE TABLE noted (id int)`, `DO $$ BEGIN EXECUTE 'COMMENT ON TABLE noted IS ''hunter22 ' || repeat('é', 100000) || ''''; EXECUTE 'COMMENT ON COLUMN noted.id IS ''hunter22 ' || repeat('é', 100000) || ''''; END $$`)
	s.connectTo(t, pg, "pg")
	for _, name := range []string{"first", "second"} {
		f := s.queried(t, `{"name":"`+name+`","serviceName":"pg","viewName":"failing","query":{"fields":[{"field":"n"}]}}`)
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID})
		if !strings.Contains(got.body, "SQLSTATE P0001") || !strings.Contains(got.body, "*** é") || len(got.body) > 16<<10 || strings.Contains(got.body, "hunter22") {
			t.Errorf("a feed of %d bytes: %.1000s", len(got.body), got.body)
		}
		got = s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/refreshes"})
		if !strings.Contains(got.body, "SQLSTATE P0001") || len(got.body) > 16<<10 || strings.Contains(got.body, "hunter22") {
			t.Errorf("refreshes of %d bytes: %.1000s", len(got.body), got.body)
		}
	}
	got := s.send(t, request{method: "GET", path: "/query_builder/services/pg/views"})
	if got.status != 200 || !strings.Contains(got.body, "*** é") || len(got.body) > 16<<10 || strings.Contains(got.body, "hunter22") {
		t.Errorf("the views: %d of %d bytes: %.1000s", got.status, len(got.body), got.body)
	}
}

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shownConnection is what tests read of a connection.
type shownConnection struct {
	ID, ServiceName, Connector string
	Config                     map[string]any
}

func (s *service) connected(t testing.TB, body string) (c shownConnection) {
	t.Helper()
	s.send(t, request{method: "POST", path: "/connections", body: body}).data(t, &c)
	return c
}

// Connections are made, read, changed and deleted, and their secrets are never
// seen again.
func TestConnections(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	const password = "s3cret-of-the-database"
	c := s.connected(t, `{"serviceName":"warehouse","connector":"postgres","config":{"host":"localhost","port":1,"database":"shop","user":"reader","password":"`+password+`"}}`)
	if c.ServiceName != "warehouse" || c.Connector != "postgres" || c.Config["password"] != "***" || c.Config["port"] != 1.0 || !strings.HasPrefix(c.ID, "con_") {
		t.Errorf("%+v", c)
	}
	path := "/connections/" + c.ID
	taken := s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"warehouse","connector":"mysql","config":{"host":"127.0.0.1","database":"shop","user":"reader"}}`})
	if p := taken.problem(t); taken.status != 409 || p.Type != "/problems/name-taken" {
		t.Errorf("%d %s", taken.status, taken.body)
	}
	feeds := s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"feeds","connector":"mysql","config":{"host":"127.0.0.1","database":"shop","user":"reader"}}`})
	if p := feeds.problem(t); feeds.status != 409 || p.Type != "/problems/name-taken" {
		t.Errorf("%d %s", feeds.status, feeds.body)
	}
	for body, want := range map[string]string{
		`{"config":{"host":"db.example"}}`:          "pointer /config/password",
		`{"config":{"port":2}}`:                     "pointer /config/password",
		`{"config":{"port":2,"password":"***"}}`:    "pointer /config/password",
		`{"connector":"mysql"}`:                     "pointer /connector",
		`{"config":{"tls":"on","host":7,"port":0}}`: "pointer /config/host, pointer /config/port, pointer /config/tls, pointer /config/password",
		`{"config":{"host":null,"password":"x","sslmode":"off"},"serviceName":"a/b"}`: "pointer /serviceName, pointer /config/host, pointer /config/sslmode",
	} {
		got := s.send(t, request{method: "PATCH", path: path, body: body})
		if places := strings.Join(got.problem(t).places(), ", "); got.status != 400 || places != want {
			t.Errorf("%s: %d at %s: %s", body, got.status, places, got.body)
		}
	}
	changed := s.send(t, request{method: "PATCH", path: path, body: `{"serviceName":"shop","config":{"database":"other","password":"***","sslmode":"disable"}}`})
	if changed.status != 200 || !strings.Contains(changed.body, `"config":{"host":"localhost","port":1,"database":"other","user":"reader","password":"***","sslmode":"disable"}`) {
		t.Errorf("%d %s", changed.status, changed.body)
	}
	moved := s.send(t, request{method: "PATCH", path: path, body: `{"config":{"port":2,"password":"an0ther-secret"}}`})
	if moved.status != 200 {
		t.Errorf("%d %s", moved.status, moved.body)
	}
	test := s.send(t, request{method: "POST", path: path + "/test"})
	if test.status != 200 || !strings.HasPrefix(test.body, `{"ok":false,"detail":"`) || strings.Contains(test.body, "127.0.0.1") || strings.Contains(test.body, "::1") {
		t.Errorf("%d %s", test.status, test.body)
	}
	for _, q := range []request{
		{method: "GET", path: "/query_builder/services/shop/views"},
		{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"shop","viewName":"t","query":{"fields":[{"field":"id"}]}}`},
	} {
		got := s.send(t, q)
		if got.status != 422 || !strings.HasPrefix(got.body, `{"type":"/problems/database-unreachable","title":"The database cannot be reached","status":422,"detail":"Connecting to the database \"other\" at localhost:2 failed: connection refused.",`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	var actions []string
	for _, entry := range s.audit(t, "", "?limit=500") {
		if strings.HasPrefix(entry.Action, "connection.") && entry.Resource == c.ID {
			actions = append(actions, entry.Action)
		}
	}
	if got := strings.Join(actions, ","); got != "connection.update,connection.update,connection.create" {
		t.Error(got)
	}
	if got := s.send(t, request{method: "DELETE", path: path}); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: path}); got.status != 404 {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.stop()
	for _, secret := range []string{password, "an0ther-secret"} {
		if strings.Contains(s.log.String(), secret) {
			t.Error("a secret is in the log")
		}
		for _, name := range []string{"feedmill.db", "feedmill.db-wal"} {
			if data, err := os.ReadFile(filepath.Join(s.app.config.Data, name)); err == nil && strings.Contains(string(data), secret) {
				t.Errorf("a secret is in %s", name)
			}
		}
	}
}

// Every fault of a new connection has its place.
func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.db")
	for name, text := range map[string]string{outside: "x", filepath.Join(dir, "inside.db"): "x"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": outside, "in": filepath.Join(dir, "inside.db"), "folder": filepath.Dir(outside)} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, setup{env: []string{"FEEDMILL_EGRESS_PROXY=", "FEEDMILL_DATABASE_DIRS=" + dir}})
	for body, want := range map[string]string{
		`{}`: "pointer /serviceName, pointer /connector, pointer /config",
		`{"serviceName":"","connector":"oracle","config":{},"more":1}`:                                                                        "pointer /serviceName, pointer /connector, pointer /more",
		`{"serviceName":"x","connector":"feeds","config":{}}`:                                                                                 "pointer /connector",
		`{"serviceName":"x","connector":"postgres","config":{"tls":"on","port":"5432"}}`:                                                      "pointer /config/host, pointer /config/port, pointer /config/database, pointer /config/user, pointer /config/tls",
		`{"serviceName":"x","connector":"postgres","config":{"host":"10.0.0.1","database":"d","user":"u"}}`:                                   "pointer /config/host",
		`{"serviceName":"x","connector":"mysql","config":{"host":"/run/mysqld.sock","database":"d","user":"u","tls":"yes"}}`:                  "pointer /config/tls, pointer /config/host",
		`{"serviceName":"x","connector":"mysql","config":{"host":"db.example:3306","database":"d","user":"u","statementTimeout":"2d"}}`:       "pointer /config/statementTimeout, pointer /config/host",
		`{"serviceName":"x","connector":"mysql","config":{"host":"db.example","database":"d","user":"u","password":"***"}}`:                   "pointer /config/password",
		`{"serviceName":"x","connector":"sqlite","config":{}}`:                                                                                "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"inside.db"}}`:                                                              "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"` + outside + `"}}`:                                                        "pointer /config/path",
		`{"serviceName":"x","connector":"duckdb","config":{"path":"` + dir + `/../` + filepath.Base(filepath.Dir(outside)) + `/outside.db"}}`: "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"` + dir + `/out"}}`:                                                        "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"` + dir + `/folder/outside.db"}}`:                                          "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"` + dir + `/nothing.db"}}`:                                                 "pointer /config/path",
		`{"serviceName":"x","connector":"sqlite","config":{"path":"` + dir + `"}}`:                                                            "pointer /config/path",
	} {
		got := s.send(t, request{method: "POST", path: "/connections", body: body})
		if places := strings.Join(got.problem(t).places(), ", "); got.status != 400 || places != want {
			t.Errorf("%s: %d at %s: %s", body, got.status, places, got.body)
		}
	}
	if got := s.send(t, request{method: "POST", path: "/connections", body: `{"serviceName":"x","connector":"oracle","config":{}}`}); !strings.Contains(got.body, "postgres, mysql, sqlite, duckdb") {
		t.Error(got.body)
	}
	for i, name := range []string{"inside.db", "in"} {
		got := s.send(t, request{method: "POST", path: "/connections", body: toJSON(map[string]any{"serviceName": "f" + string(rune('0'+i)), "connector": "sqlite", "config": map[string]any{"path": filepath.Join(dir, name)}})})
		if got.status != 201 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

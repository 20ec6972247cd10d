package sqlite

import (
	"fmt"
	"testing"

	"github.com/feedmill/feedmill"
)

var oldConnections = []struct{ connector, before, after string }{
	{"postgres", `{"host":"db.example","user":"x}"}`, `{"host":"db.example","user":"x}","sslmode":"prefer"}`},
	{"postgres", `{"host":"db.example","sslmode":"verify-full"}`, `{"host":"db.example","sslmode":"verify-full"}`},
	{"mysql", `{"host":"db.example","port":3307}`, `{"host":"db.example","port":3307,"tls":"off"}`},
	{"mysql", `{"host":"db.example","tls":"on"}`, `{"host":"db.example","tls":"on"}`},
	{"sqlite", `{"path":"/x"}`, `{"path":"/x"}`},
}

// Connections of an older release keep the protection that they had.
func TestConnectionsOfAnOlderRelease(t *testing.T) {
	w := feedmill.NewID(feedmill.PrefixWorkspace)
	file := atVersion(t, 29, func(exec func(query string, args ...any)) {
		exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'w', 1)`, w)
		for i, c := range oldConnections {
			exec(`INSERT INTO connections (workspace_id, id, service_name, connector, config, secrets, created_at, updated_at) VALUES (?, ?, ?, ?, ?, x'00', 1, 1)`, w, fmt.Sprint(i), fmt.Sprint("s", i), c.connector, []byte(c.before))
		}
	})
	db := open(t, file)
	for i, c := range oldConnections {
		if got, err := db.ConnectionOf(t.Context(), w, fmt.Sprint("s", i)); err != nil || string(got.Config) != c.after {
			t.Errorf("%s %s is now %s, want %s: %v", c.connector, c.before, got.Config, c.after, err)
		}
	}
}

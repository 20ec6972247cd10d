package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// A server with a certificate of a private authority, which asks its clients for one.
func TestTLS(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{})
	address := server.NewDatabase(t)
	conn := connect(t, address)
	var folder, hba string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('data_directory'), current_setting('hba_file')").Scan(&folder, &hba); err != nil {
		t.Fatal(err)
	}
	authority, other := databasetest.NewAuthority(t), databasetest.NewAuthority(t)
	authority.WriteServer(t, folder)
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	for _, name := range []string{"ca.pem", "cert.pem", "key.pem"} { // a key that others can read is refused
		file := filepath.Join(folder, name)
		if os.Chmod(file, 0o600) != nil || os.Getuid() == 0 && os.Chown(file, int(owner.Uid), int(owner.Gid)) != nil {
			t.Fatal(name)
		}
	}
	exec(t, conn, "CREATE ROLE certified LOGIN; CREATE ROLE plain LOGIN PASSWORD 'word'")
	rules := "hostssl all certified 127.0.0.1/32 cert\nhostssl all plain 127.0.0.1/32 scram-sha-256\n"
	before, err := os.ReadFile(hba)
	if err != nil {
		t.Fatal(err)
	}
	rules += "host all certified 127.0.0.1/32 reject\nhost all plain 127.0.0.1/32 reject\n"
	if err := os.WriteFile(hba, append([]byte(rules), before...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"ssl_ca_file = 'ca.pem'", "ssl_cert_file = 'cert.pem'", "ssl_key_file = 'key.pem'", "ssl = on"} {
		exec(t, conn, "ALTER SYSTEM SET "+setting)
	}
	exec(t, conn, "SELECT pg_reload_conf()")

	cert, key := authority.Issue(t, "certified", false)
	strange, strangeKey := other.Issue(t, "certified", false)
	for _, test := range []struct {
		name, mode, host, user, ca, cert, key string
		says                                  string // empty where it works
	}{
		{"private authority", "verify-full", "", "plain", authority.Cert, "", "", ""},
		{"authority only", "verify-ca", "localhost", "plain", authority.Cert, "", "", ""},
		{"client certificate", "verify-full", "", "certified", authority.Cert, cert, key, ""},
		{"client certificate, unverified server", "require", "", "certified", "", cert, key, ""},
		{"unverified", "require", "", "plain", "", "", "", ""},
		{"preferred", "prefer", "", "plain", "", "", "", ""},
		{"system's authorities", "verify-full", "", "plain", "", "", "", "Set caCert"},
		{"another authority", "verify-full", "", "plain", other.Cert, "", "", "Set caCert"},
		{"another authority without the name", "verify-ca", "", "plain", other.Cert, "", "", "Set caCert"},
		{"another name", "verify-full", "localhost", "plain", authority.Cert, "", "", "localhost"},
		{"no client certificate", "verify-full", "", "certified", authority.Cert, "", "", "certificate"},
		{"client certificate of another authority", "verify-full", "", "certified", authority.Cert, strange, strangeKey, ""},
		{"no TLS", "disable", "", "plain", "", "", "", "no encryption"},
	} {
		c := config(t, address)
		c.User, c.Password, c.TLS, c.CACert, c.ClientCert, c.ClientKey = test.user, "word", test.mode, test.ca, test.cert, test.key
		if test.host != "" {
			c.Host = test.host
		}
		err := open(t, c).Ping(t.Context())
		refused := test.says != "" || test.cert == strange && strange != ""
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "PRIVATE KEY") {
			t.Errorf("%s: the key is in the error", test.name)
		}
	}
	_, err = database.Config{ClientCert: cert, ClientKey: strangeKey}.TLSConfig()
	if err == nil || strings.Contains(err.Error(), "KEY-") {
		t.Errorf("a key of another certificate: %v", err)
	}
}

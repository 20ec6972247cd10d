package mysql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// A server with a certificate of a private authority, which asks a user for one.
func TestTLS(t *testing.T) {
	folder, err := os.MkdirTemp("", "tls-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { // the server runs as another user
		t.Fatal(err)
	}
	authority, other := databasetest.NewAuthority(t), databasetest.NewAuthority(t)
	authority.WriteServer(t, folder)
	at := func(name string) string { return filepath.Join(folder, name) }
	m, err := databasetest.StartMariaDB("--ssl-ca="+at("ca.pem"), "--ssl-cert="+at("cert.pem"), "--ssl-key="+at("key.pem"))
	m = databasetest.NeedMariaDB(t, m, err)
	t.Cleanup(m.Close)
	writer, config := create(t, m)
	for _, user := range []string{"plain IDENTIFIED BY 'word' REQUIRE SSL", "certified IDENTIFIED BY 'word' REQUIRE X509"} {
		exec(t, writer, "CREATE USER "+user)
	}
	exec(t, writer, "GRANT SELECT ON *.* TO plain")
	exec(t, writer, "GRANT SELECT ON *.* TO certified")

	cert, key := authority.Issue(t, "certified", false)
	strange, strangeKey := other.Issue(t, "certified", false)
	for _, test := range []struct {
		name, mode, host, user, ca, cert, key string
		works                                 bool
		says                                  string
	}{
		{"private authority", "on", "", "plain", authority.Cert, "", "", true, ""},
		{"unverified", "skipVerify", "", "plain", "", "", "", true, ""},
		{"client certificate", "on", "", "certified", authority.Cert, cert, key, true, ""},
		{"client certificate, unverified server", "skipVerify", "", "certified", "", cert, key, true, ""},
		{"system's authorities", "on", "", "plain", "", "", "", false, "Set caCert"},
		{"another authority", "on", "", "plain", other.Cert, "", "", false, "Set caCert"},
		{"another name", "on", "localhost", "plain", authority.Cert, "", "", false, "localhost"},
		{"no client certificate", "on", "", "certified", authority.Cert, "", "", false, "denied"},
		{"client certificate of another authority", "on", "", "certified", authority.Cert, strange, strangeKey, false, ""},
		{"no TLS", "off", "", "plain", "", "", "", false, "denied"},
	} {
		c := config
		c.User, c.Password, c.TLS, c.CACert, c.ClientCert, c.ClientKey = test.user, "word", test.mode, test.ca, test.cert, test.key
		if test.host != "" {
			c.Host = test.host
		}
		err := open(t, c).Ping(t.Context())
		if (err == nil) != test.works || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

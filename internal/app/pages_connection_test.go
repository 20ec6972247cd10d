package app

import (
	"net/url"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// TestConnectionPageTakesCertificates: the form sets, keeps and removes certificates, and never
// shows a key.
func TestConnectionPageTakesCertificates(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	cookie := s.session(t, adminKey)
	authority := databasetest.NewAuthority(t)
	cert, key := authority.Issue(t, "reader", false)
	form := url.Values{
		"serviceName": {"warehouse"}, "connector": {"postgres"}, "host": {"127.0.0.1"}, "port": {"1"}, "database": {"shop"}, "user": {"reader"}, "sslmode": {"verify-full"},
		"caCert": {strings.ReplaceAll(authority.Cert, "\n", "\r\n")}, "clientCert": {cert}, "clientKey": {key},
	}
	post := func(path string) reply {
		return s.send(t, request{method: "POST", path: path, key: "-", body: form.Encode(), header: [][2]string{{"Content-Type", urlencoded}, {"Cookie", cookie}}})
	}
	form.Set("clientKey", "")
	if got := post("/ui/connections/new"); got.status != 422 || !strings.Contains(got.body, "clientCert requires clientKey.") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	form.Set("clientKey", key)
	got := post("/ui/connections/new")
	page, _, _ := strings.Cut(got.header.Get("Location"), "?")
	if got.status != 303 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	shown := s.send(t, request{method: "GET", path: page, key: "-", header: [][2]string{{"Cookie", cookie}}})
	secret := strings.Split(key, "\n")[1]
	if !strings.Contains(shown.body, strings.Split(cert, "\n")[1][:20]) || strings.Contains(shown.body, secret) || strings.Contains(shown.body, ">***<") {
		t.Errorf("%s", shown.body)
	}
	config := func() string {
		return s.send(t, request{method: "GET", path: strings.TrimPrefix(page, "/ui")}).body
	}
	// An empty key means the one that there is, and without its certificate it goes too.
	form.Set("clientKey", "")
	if got := post(page); got.status != 303 || !strings.Contains(config(), `"clientKey":"***"`) {
		t.Errorf("%d %s %s", got.status, got.body, config())
	}
	form.Set("clientCert", "")
	if got := post(page); got.status != 303 || strings.Contains(config(), strings.Split(cert, "\n")[1]) || strings.Contains(config(), `"clientKey":"***"`) {
		t.Errorf("%d %s %s", got.status, got.body, config())
	}
}

package app

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/config"
)

// The secrets that the test plants. None has a character that any encoding of
// text would change.
const (
	plantedVault    = "planted-vault-key-0123456789-abcdefghijkl"
	plantedProxy    = "planted-proxy-password-0123456789"
	plantedDatabase = "planted-database-password-0123456789"
	plantedHeader   = "planted-header-of-a-subscriber-0123456789"
	plantedURL      = "planted-part-of-a-url-0123456789"
	plantedUnknown  = "fm_planted-key-that-nobody-has-made-000000000000"
)

// TestSecretsStayInside runs a whole server, uses secrets rightly and wrongly,
// and looks for them wherever the server writes.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	var exported writtenText
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(&exported, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	s := start(t, setup{env: []string{
		"FEEDMILL_VAULT_KEY=" + plantedVault, "FEEDMILL_EGRESS_PROXY=http://user:" + plantedProxy + "@127.0.0.1:9",
		"FEEDMILL_TRACES_ENDPOINT=" + collector.URL,
	}})

	// The key of a creation, and of its repetition, is for its maker alone.
	first, again := s.send(t, createIdempotent("k", newReader)), s.send(t, createIdempotent("k", newReader))
	var response made
	first.data(t, &response)
	if wantSame(t, first, again); !strings.Contains(again.body, response.Key) {
		t.Error("the repetition does not have the key")
	}
	admin := s.newKey(t, "", everyScope...)
	revoked := s.newKey(t, "", everyScope...)
	s.send(t, request{method: "DELETE", path: "/keys/" + revoked.ID})
	subscription := s.subscribeSecretly(t)
	secrets := map[string]string{
		"signing secret": subscription.SigningSecret, "rotated signing secret": subscription.rotated, "subscriber's header": plantedHeader,
		"bootstrap key": adminKey, "vault key": plantedVault, "proxy password": plantedProxy, "unknown key": plantedUnknown,
		"key made once": response.Key, "admin's key": admin.Key, "revoked key": revoked.Key,
	}

	seen := make(map[string]string) // what was written, by where
	note := func(q request) {
		q.header = append(q.header, [2]string{"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
		got := s.send(t, q)
		seen["answer to "+q.method+" "+q.path+" "+q.body] = got.body + toJSON(got.header)
	}
	for _, secret := range secrets {
		for _, q := range misuses(secret) {
			note(q)
		}
	}
	note(request{method: "POST", path: "/events", body: `{"type":"metric.created","resourceId":"m_1"}`})
	note(request{method: "POST", path: "/events/subscriptions/" + subscription.ID + "/test"})
	for _, path := range []string{
		"/keys", "/workspaces", "/metrics", "/openapi.json", "/readyz", "/docs", "/events", "/events/types", "/events/undelivered",
		"/events/subscriptions", "/events/subscriptions/" + subscription.ID, "/events/subscriptions/" + subscription.ID + "/deliveries",
	} {
		note(request{method: "GET", path: path})
		note(request{method: "GET", path: path, key: admin.Key})
	}
	// A path is the client's own text and comes back as the problem's
	// instance; it must not go anywhere else.
	for _, secret := range []string{plantedUnknown, admin.Key} {
		s.send(t, request{method: "DELETE", path: "/keys/" + secret})
		s.send(t, request{method: "GET", path: "/" + secret})
	}
	seen["metrics"] = s.send(t, request{method: "GET", path: "/metrics"}).body
	s.stop()
	seen["log"] = s.log.String()
	seen["greeting"] = s.greeting.String()
	seen["traces"] = exported.String()
	if !strings.Contains(seen["log"], `"status":401`) || !strings.Contains(seen["traces"], "GET /keys") || !strings.Contains(seen["metrics"], `route="/keys"`) {
		t.Error("the log, the traces or the metrics are empty")
	}
	var printed strings.Builder
	if err := s.app.config.Print(&printed); err != nil {
		t.Fatal(err)
	}
	seen["configuration"] = printed.String()
	readFiles(t, s.app.config.Data, seen)
	for where, text := range seen {
		if !strings.HasPrefix(where, "answer to ") && strings.Contains(text, plantedURL) {
			t.Errorf("the URL of a subscription is in the %s", where)
		}
		for name, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("the %s is in the %s", name, where)
			}
		}
	}
}

// subscribed is a subscription with the secrets that it has.
type subscribed struct {
	ID, SigningSecret string
	rotated           string
}

// subscribeSecretly makes a subscription that has had two signing secrets and sends a
// secret header.
func (s *service) subscribeSecretly(t *testing.T) (sub subscribed) {
	t.Helper()
	s.send(t, request{method: "POST", path: "/events/subscriptions", body: `{"url":"https://example.com/` + plantedURL + `","events":["metric.*"]}`}).data(t, &sub)
	var next subscribed
	s.send(t, request{method: "POST", path: "/events/subscriptions/" + sub.ID + "/rotate_secret", body: `{"overlap":"1h"}`}).data(t, &next)
	sub.rotated = next.SigningSecret
	changed := s.send(t, request{method: "PATCH", path: "/events/subscriptions/" + sub.ID, body: `{"delivery":{"headers":{"x-token":"` + plantedHeader + `"}}}`})
	if changed.status != 200 || sub.SigningSecret == "" || sub.rotated == "" || sub.rotated == sub.SigningSecret {
		t.Fatalf("%d: %s", changed.status, changed.body)
	}
	return sub
}

// misuses are requests that hold a secret where none belongs.
func misuses(secret string) []request {
	list := []request{
		{method: "GET", path: "/keys", key: secret},
		{method: "POST", path: "/keys", key: secret, body: `{"name":`},
		{method: "GET", path: "/keys", header: [][2]string{{"Authorization", "Basic " + secret}}},
		{method: "GET", path: "/keys", header: [][2]string{{"Authorization", secret}}},
		{method: "GET", path: "/keys", header: [][2]string{{"Authorization", "Bearer " + secret + " " + secret}}},
		{method: "POST", path: "/keys", body: newReader, header: [][2]string{{"Content-Type", secret}}},
		{method: "POST", path: "/keys", body: newReader, header: [][2]string{{"Idempotency-Key", secret + " " + secret}}},
	}
	for _, query := range []string{"limit=", "cursor=", "workspaceId=", "unknown=", "limit=1&limit="} {
		list = append(list, request{method: "GET", path: "/keys?" + query + secret})
	}
	for _, body := range []string{
		`"@"`, `["@"]`, `{"name":{"key":"@"},"scopes":["admin"]}`, `{"name":["@"],"scopes":"@"}`, `{"name":"n","scopes":["@"]}`,
		`{"name":"n","scopes":["admin"],"workspaceId":"@"}`, `{"name":"n","scopes":["admin"],"workspaceId":["@"]}`,
		`{"name":"n","scopes":["admin"],"secret":"@"}`, `{"name":"n","name":"@","scopes":[]}`, `{"name":"\u0000@","scopes":[]}`,
		`{"name":"@`, `{"name":@}`, `{"name":"@"x}`, `{"name":"@","scopes":["admin"]} "@"`, `{"name":"\@"}`, `@`, "{\"name\":\"@\xff\"}", `{"name":"@\ud800"}`,
	} {
		q := request{method: "POST", path: "/keys", body: strings.ReplaceAll(body, "@", secret)}
		list = append(list, q)
		q.header = [][2]string{{"Idempotency-Key", string(feedmill.NewID("key"))}}
		list = append(list, q)
	}
	return list
}

func readFiles(t *testing.T, folder string, into map[string]string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(folder), name)
		into["file "+name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if into["file feedmill.db"] == "" {
		t.Error("the store's file is not where the test looks")
	}
}

// The first key of a server that was given none is shown to the operator, once,
// and goes nowhere else.
func TestFirstKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_BOOTSTRAP_KEY="}})
	s.send(t, request{method: "GET", path: "/healthz"}) // it greets before it answers
	key := regexp.MustCompile(`fm_[A-Za-z0-9_-]{43}`).FindString(s.greeting.String())
	if key == "" {
		t.Fatalf("the greeting is %s", s.greeting)
	}
	if got := s.send(t, request{method: "GET", path: "/keys", key: key}); got.status != 200 || strings.Contains(got.body, key) {
		t.Errorf("with the first key %q, answered %d: %s", key, got.status, got.body)
	}
	second := twin(t, s)
	second.send(t, request{method: "GET", path: "/healthz"})
	if text := second.greeting.String(); strings.Contains(text, "fm_") {
		t.Errorf("the next start says %s", text)
	}
	s.stop()
	second.stop()
	files := make(map[string]string)
	readFiles(t, s.app.config.Data, files)
	files["log"] = s.log.String()
	for where, text := range files {
		if strings.Contains(text, key) {
			t.Errorf("the first key is in the %s", where)
		}
	}
}

// What an operator sees of a configuration with secrets, right or wrong, has
// none of them.
func TestConfigurationHidesSecrets(t *testing.T) {
	t.Parallel()
	env := []string{
		"FEEDMILL_BOOTSTRAP_KEY=" + adminKey, "FEEDMILL_VAULT_KEY=" + plantedVault, "FEEDMILL_EGRESS_PROXY=http://user:" + plantedProxy + "@127.0.0.1:9",
		"FEEDMILL_DATABASE_URL=postgres://feedmill:" + plantedDatabase + "@127.0.0.1:1/feedmill",
	}
	c, err := config.Load("", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := c.Print(&printed); err != nil {
		t.Fatal(err)
	}
	_, wrong := config.Load("", append(env, "FEEDMILL_DATABASE_URL=mysql://"+plantedDatabase, "FEEDMILL_RATE_LIMIT="+plantedProxy), nil)
	if wrong == nil {
		t.Fatal("a wrong configuration was read")
	}
	for _, secret := range []string{adminKey, plantedVault, plantedProxy, plantedDatabase} {
		if strings.Contains(printed.String(), secret) || strings.Contains(wrong.Error(), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

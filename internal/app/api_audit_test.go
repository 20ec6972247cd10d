package app

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// auditEntry is an entry as a client reads it.
type auditEntry struct {
	ID, At, Action, Resource, Address, RequestID string
	Actor                                        struct{ Key, Subject, Name string }
	Fields                                       []string
}

func (s *service) audit(t *testing.T, key, query string) (entries []auditEntry) {
	t.Helper()
	got := s.send(t, request{method: "GET", path: "/audit" + query, key: key})
	if err := json.Unmarshal([]byte(got.body), &entries); err != nil || got.status != 200 {
		t.Fatalf("%d, %v: %s", got.status, err, got.body)
	}
	return entries
}

func TestAuditSaysWhoChangedWhat(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	acme := s.newWorkspace(t, "acme")
	admin := s.newKey(t, acme.ID, everyScope...)
	do := func(method, path, body string, status int) (made struct{ ID string }) {
		t.Helper()
		got := s.send(t, request{method: method, path: path, key: admin.Key, body: body, header: [][2]string{{"X-Request-Id", "request-" + method}}})
		if got.status != status {
			t.Fatalf("%s %s is answered %d: %s", method, path, got.status, got.body)
		}
		if status == 201 {
			got.data(t, &made)
		}
		return made
	}
	const hook = "https://hooks.example.com/secret-part-of-the-url"
	sub := do("POST", "/events/subscriptions", `{"url":"`+hook+`","events":["metric.*"]}`, 201)
	at := "/events/subscriptions/" + sub.ID
	do("PATCH", at, `{"name":"changed","delivery":{"headers":{"X-Token":"secret-of-a-header"}}}`, 200)
	do("PATCH", at, `{"name":7}`, 400)
	do("POST", at+"/rotate_secret", ``, 200)
	do("DELETE", at, ``, 204)
	feed := do("POST", "/data_feeds?type=dataUpload&name=n", `[{"a":1}]`, 201)
	do("PUT", "/data_feeds/"+feed.ID+"/data", `[{"a":2}]`, 200)
	do("PUT", "/data_feeds/"+feed.ID+"/data", `[{"a":`, 422)
	do("PATCH", "/data_feeds/"+feed.ID, `{"description":"d"}`, 200)
	do("DELETE", "/data_feeds/"+feed.ID, ``, 204)
	do("POST", "/events", `{"type":"metric.created"}`, 202)
	key := do("POST", "/keys", `{"name":"k","scopes":["api:read"]}`, 201)
	do("DELETE", "/keys/"+key.ID, ``, 204)
	entries := s.audit(t, admin.Key, "")
	var told []string
	for _, e := range slices.Backward(entries) {
		told = append(told, e.Action+" "+e.Resource)
	}
	want := []string{
		"workspace.create " + acme.ID, "key.create " + admin.ID, "subscription.create " + sub.ID, "subscription.update " + sub.ID,
		"subscription.rotate_secret " + sub.ID, "subscription.delete " + sub.ID, "feed.create " + feed.ID, "feed.upload " + feed.ID,
		"feed.update " + feed.ID, "feed.delete " + feed.ID, "key.create " + key.ID, "key.revoke " + key.ID,
	}
	if !slices.Equal(told, want) {
		t.Fatalf("the log has %q, want %q", told, want)
	}
	update := entries[slices.IndexFunc(entries, func(e auditEntry) bool { return e.Action == "subscription.update" })]
	if update.Actor.Key != admin.ID || update.Actor.Name != "key for a test" || update.Address != "127.0.0.1" || update.RequestID != "request-PATCH" ||
		!slices.Equal(update.Fields, []string{"name", "delivery"}) || !strings.HasPrefix(update.ID, "aud_") {
		t.Errorf("the change of the subscription is %+v", update)
	}
	changed := entries[slices.IndexFunc(entries, func(e auditEntry) bool { return e.Action == "feed.update" })]
	if !slices.Equal(changed.Fields, []string{"description"}) {
		t.Errorf("the change of the feed is %+v", changed)
	}
	if made := entries[len(entries)-2]; made.Actor.Subject != "operator" || made.Actor.Key != "" || made.Address != "" {
		t.Errorf("what the operator did is %+v", made)
	}
	if at, err := time.Parse(time.RFC3339, update.At); err != nil || time.Since(at) > time.Hour {
		t.Errorf("it happened at %q", update.At)
	}
	text := s.send(t, request{method: "GET", path: "/audit", key: admin.Key}).body
	for _, secret := range []string{"secret", admin.Key} {
		if strings.Contains(strings.ReplaceAll(text, "rotate_secret", ""), secret) {
			t.Errorf("the log has %q: %s", secret, text)
		}
	}
	for query, n := range map[string]int{
		"?actor=" + admin.ID: 10, "?actor=operator": 2, "?action=key.create": 2, "?resource=" + sub.ID: 4, "?limit=3": 3,
		"?since=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): 0, "?since=2020-01-01T00:00:00Z&action=feed.upload": 1,
	} {
		if got := s.audit(t, admin.Key, query); len(got) != n {
			t.Errorf("%s lists %d entries, want %d", query, len(got), n)
		}
	}
	if home := s.audit(t, "", "?resource="+admin.ID); len(home) != 1 || home[0].Actor.Key == "" {
		t.Errorf("the log of the workspace of who made the key has %+v", home)
	}
	if there := s.audit(t, "", "?workspaceId="+acme.ID); len(there) != len(entries) {
		t.Errorf("an admin of default sees %d entries of it, want %d", len(there), len(entries))
	}
}

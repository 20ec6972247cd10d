package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestMetaURLsCanBeRead creates a resource of every kind that the document knows, in two workspaces,
// and reads each at its meta.url: with its own key, without a secret, and not from the other workspace.
func TestMetaURLsCanBeRead(t *testing.T) {
	s := start(t, setup{})
	var other made
	s.send(t, request{method: "POST", path: "/workspaces", body: `{"name":"other"}`}).data(t, &other)
	stranger := s.newKey(t, other.ID, everyScope...).Key
	bodies := map[string]string{
		"createWorkspace":    `{"name":"%s"}`,
		"createKey":          `{"name":"%s","scopes":["api:read"]}`,
		"createConnection":   `{"serviceName":"%s","connector":"mysql","config":{"host":"127.0.0.1","database":"shop","user":"reader"}}`,
		"createDataFeed":     `[{"name":"%s"}]`,
		"createLink":         `{"name":"%s"}`,
		"createListener":     `{"events":["tag.*"],"filters":{"resourceId":"%s"}}`,
		"createSubscription": `{"url":"https://example.com/%s","events":["tag.*"]}`,
	}
	var feed struct{ ID string }
	s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload", body: `[{"a":1}]`}).data(t, &feed)
	for _, op := range readDocument(t).operations {
		if op.method != "POST" || !op.promises("201") || op.id == "createSession" {
			continue
		}
		body, ok := bodies[op.id]
		if !ok {
			t.Errorf("%s creates a resource; add a body for it", op.id)
			continue
		}
		for _, name := range []string{"first", "second"} {
			path := strings.ReplaceAll(op.path, "{id}", feed.ID)
			if op.id == "createDataFeed" {
				path += "?type=dataUpload"
			}
			created := s.send(t, request{method: "POST", path: path, body: fmt.Sprintf(body, name)})
			var resource struct {
				Meta struct{ URL string }
				Data map[string]any
			}
			if err := json.Unmarshal([]byte(created.body), &resource); err != nil || created.status != 201 {
				t.Fatalf("%s returns %d: %s", op.id, created.status, created.body)
			}
			got := s.send(t, request{method: "GET", path: resource.Meta.URL})
			if got.status != 200 || !strings.Contains(got.body, resource.Data["id"].(string)) || !strings.Contains(got.body, `"url":"`+resource.Meta.URL+`"`) {
				t.Errorf("GET %s of %s returns %d: %s", resource.Meta.URL, op.id, got.status, got.body)
			}
			for _, secret := range []string{"key", "signingSecret", "url"} {
				if text, ok := resource.Data[secret].(string); ok && op.id != "createSubscription" && strings.Contains(got.body, text) {
					t.Errorf("GET %s shows the %s", resource.Meta.URL, secret)
				}
			}
			if got := s.send(t, request{method: "GET", path: resource.Meta.URL, key: stranger}); got.status != 404 {
				t.Errorf("GET %s from another workspace returns %d: %s", resource.Meta.URL, got.status, got.body)
			}
		}
	}
}

package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMetaURLsCanBeRead creates a resource of every kind that the document knows, in two workspaces,
// and reads each at its meta.url: with its own key, without a secret, and not from the other workspace.
func TestMetaURLsCanBeRead(t *testing.T) {
	folder := t.TempDir()
	s := start(t, setup{env: []string{"FEEDMILL_DATABASE_DIRS=" + folder}})
	db := realSQLite(t, folder)
	db.do(t, "CREATE TABLE orders (id integer)")
	shop := s.connectTo(t, db, "shop").ID
	var other made
	s.send(t, request{method: "POST", path: "/workspaces", body: `{"name":"other"}`}).data(t, &other)
	stranger := s.newKey(t, other.ID, everyScope...).Key
	bodies := map[string]string{
		"createWorkspace":    `{"name":"%s"}`,
		"createKey":          `{"name":"%s","scopes":["api:read"]}`,
		"createConnection":   `{"serviceName":"%s","connector":"mysql","config":{"host":"127.0.0.1","database":"shop","user":"reader"}}`,
		"createDataFeed":     `[{"name":"%s"}]`,
		"createLink":         `{"name":"%s"}`,
		"createPortalLink":   `{"access":"read","expiresIn":"1h"%.0s}`,
		"createListener":     `{"events":["tag.*"],"filters":{"resourceId":"%s"}}`,
		"createSubscription": `{"url":"https://example.com/%s","events":["tag.*"]}`,
		"createSQLView":      `{"name":"%s","sql":"SELECT id FROM orders"}`,
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
			if op.id == "createPortalLink" {
				path = strings.ReplaceAll(op.path, "{id}", s.ownWorkspace(t))
			}
			if op.id == "createSQLView" {
				path = strings.ReplaceAll(op.path, "{id}", shop)
			}
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

// TestMetaURLOfEveryResponse sends every operation that returns a single resource and reads the
// resource at its meta.url. A preview is not stored, so it has none.
func TestMetaURLOfEveryResponse(t *testing.T) {
	t.Parallel()
	s, _ := personal(t)
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // a delivery
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		<-release
	}))
	t.Cleanup(func() {
		close(release)
		hanging.Close()
	})
	operations := make(map[string]operation)
	for _, op := range readDocument(t).operations {
		for status, response := range op.responses {
			if status[0] == '2' && returnsResource(readDocument(t), response) {
				operations[op.id] = op
			}
		}
	}
	sent := make(map[string]bool)
	// do sends an operation and returns the ID of the resource. Arguments replace the parameters of the path.
	do := func(id, query, body string, arguments ...string) string {
		t.Helper()
		op := operations[id]
		path := op.path
		for _, argument := range arguments {
			path = strings.Replace(path, inBraces.FindString(path), argument, 1)
		}
		got := s.send(t, request{method: op.method, path: path + query, body: body})
		var resource struct {
			Meta *struct{ URL string }
			Data struct{ ID string }
		}
		if err := json.Unmarshal([]byte(got.body), &resource); err != nil || got.status >= 300 || resource.Meta == nil {
			t.Fatalf("%s returns %d: %s", id, got.status, got.body)
		}
		sent[id] = true
		if strings.HasPrefix(id, "preview") {
			if resource.Meta.URL != "" {
				t.Errorf("the preview of %s has the URL %s", id, resource.Meta.URL)
			}
			return ""
		}
		read := s.send(t, request{method: "GET", path: resource.Meta.URL})
		if read.status != 200 || !strings.Contains(read.body, `"url":"`+strings.ReplaceAll(resource.Meta.URL, "&", `\u0026`)) && !strings.Contains(read.body, `"url":"`+resource.Meta.URL) || !strings.Contains(read.body, resource.Data.ID) {
			t.Errorf("GET %s of %s returns %d: %s", resource.Meta.URL, id, read.status, read.body)
		}
		return resource.Data.ID
	}
	// newest returns the ID of the first element of a list.
	newest := func(path string) string {
		t.Helper()
		var list []struct{ ID string }
		got := s.send(t, request{method: "GET", path: path})
		if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list) == 0 {
			t.Fatalf("GET %s returns %d: %s", path, got.status, got.body)
		}
		return list[0].ID
	}
	db := readerOfPostgres(t)
	db.do(t, "CREATE TABLE orders (id integer)")
	shop := s.connectTo(t, db, "shop").ID
	for _, name := range []string{"first", "second"} {
		do("createSQLView", "", `{"name":"`+name+`","sql":"SELECT id FROM orders"}`, shop)
		do("changeSQLView", "", `{"sql":"SELECT id FROM orders WHERE id > 0"}`, shop, name)
		do("getSQLView", "", "", shop, name)
		workspace := do("createWorkspace", "", `{"name":"`+name+`"}`)
		do("getWorkspace", "", "", workspace)
		do("getPortalLink", "", "", workspace, do("createPortalLink", "", `{"access":"write"}`, workspace))
		do("changeWorkspace", "", `{"externalId":"`+name+`"}`, workspace)
		do("deleteWorkspace", "?confirm="+name, "", workspace)
		do("getKey", "", "", do("createKey", "", `{"name":"`+name+`","scopes":["api:read"]}`))
		connection := do("createConnection", "", `{"serviceName":"`+name+`","connector":"mysql","config":{"host":"127.0.0.1","database":"shop","user":"reader"}}`)
		do("getConnection", "", "", connection)
		do("changeConnection", "", `{"config":{"database":"other"}}`, connection)
		do("me", "", "")
		do("creationUrl", "?serviceName=ledgerly&redirectUri=https%3A%2F%2Fapp.example%2Fdone", "")
		do("getListener", "", "", do("createListener", "", `{"events":["tag.*"],"filters":{"resourceId":"`+name+`"}}`))

		do("previewDataFeed", "?type=dataUpload", `[{"a":1}]`)
		feed := do("createDataFeed", "?type=dataUpload", `[{"a":1}]`)
		do("getDataFeed", "", "", feed)
		do("changeDataFeed", "", `{"name":"`+name+`"}`, feed)
		do("readChecks", "", "", feed)
		do("changeColumns", "", `[{"id":"c1","description":"`+name+`"}]`, feed)
		do("replaceDataFeed", "", `[{"a":2}]`, feed)
		do("readProfile", "", "", feed)
		do("readLineage", "", "", feed)
		do("readChart", "?group=a", "", feed)
		do("getVersion", "", "", feed, "1")
		do("changeVersion", "", `{"pinned":true}`, feed, "1")
		do("restoreVersion", "", "", feed, "1")
		do("getLink", "", "", feed, do("createLink", "", `{"name":"`+name+`"}`, feed))
		query := `{"serviceName":"feeds","viewName":"` + feed + `","query":{"fields":[{"field":"a"}]}}`
		do("previewQuery", "", query)
		queried := do("createDataFeed", "?type=queryBuilder", query)
		do("pauseDataFeed", "", "", queried)
		do("resumeDataFeed", "", "", queried)
		fetched := do("createDataFeed", "?type=rest", `{"name":"`+name+`","request":{"url":"`+hanging.URL+`"}}`)
		running := newest("/data_feeds/" + fetched + "/refreshes")
		do("getRefresh", "", "", fetched, running)
		do("cancelRefresh", "", "", fetched, running)
		eventually(t, func() bool {
			var f struct{ State string }
			s.send(t, request{method: "GET", path: "/data_feeds/" + queried}).data(t, &f)
			return f.State == "ready"
		})
		do("refreshDataFeed", "", "", queried)

		for range 5 { // to be replayed
			s.send(t, request{method: "POST", path: "/events", body: `{"type":"tag.created","resourceId":"` + name + `"}`})
		}
		subscription := do("createSubscription", "", `{"url":"`+hanging.URL+"/"+name+`","events":["tag.*"],"delivery":{"retrySchedule":["1h"]}}`)
		do("getSubscription", "", "", subscription)
		do("changeSubscription", "", `{"name":"`+name+`"}`, subscription)
		do("rotateSecret", "", `{"overlap":"1h"}`, subscription)
		s.send(t, request{method: "POST", path: "/events", body: `{"type":"tag.created","resourceId":"` + name + `"}`})
		do("getEvent", "", "", newest("/events?type=tag.created"))
		delivery := newest("/events/subscriptions/" + subscription + "/deliveries")
		do("getDelivery", "", "", delivery)
		eventually(t, func() bool {
			return strings.Contains(s.send(t, request{method: "GET", path: "/events/deliveries/" + delivery}).body, `"state":"retrying"`)
		})
		do("retryDelivery", "", "", delivery)
		replay := do("replaySubscription", "", `{"since":"2020-01-01T00:00:00Z","state":"all","rate":1}`, subscription)
		do("getReplay", "", "", subscription, replay)
		do("cancelReplay", "", "", subscription, replay)
	}
	// Their resource is the credential of the request, or the subscription that getSubscription reads.
	for id := range operations {
		if !sent[id] && id != "createSession" && id != "moveSession" && id != "testSubscription" {
			t.Errorf("%s returns a resource; add a request for it", id)
		}
	}
}

// returnsResource reports whether a response has the envelope of a single resource.
func returnsResource(d *document, response any) bool {
	content, _ := d.resolve(response)["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	schema := d.resolve(media["schema"])
	several, _ := schema["anyOf"].([]any)
	if one, ok := schema["oneOf"].([]any); ok {
		several = one
	}
	for _, one := range append([]any{schema}, several...) {
		properties, _ := d.resolve(one)["properties"].(map[string]any)
		if properties["meta"] != nil && properties["data"] != nil {
			return true
		}
	}
	return false
}

package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestWorkspacesAndKeys(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	acme := s.newWorkspace(t, "acme")
	admin := s.newKey(t, acme.ID, "admin")
	worker := s.newKey(t, acme.ID, "api:read", "api:write", "events:publish")
	other := s.newKey(t, s.newWorkspace(t, "other").ID, "admin")
	var home made
	s.send(t, request{method: "POST", path: "/keys", body: `{"name":"n","scopes":["api:read"]}`}).data(t, &home)

	refused := func(t *testing.T, q request, status int, places ...string) {
		t.Helper()
		got := s.send(t, q)
		if p := got.problem(t); got.status != status || !slices.Equal(p.places(), append([]string{}, places...)) {
			t.Errorf("%v is answered %d: %s", q, got.status, got.body)
		}
	}
	t.Run("the envelope", func(t *testing.T) {
		got := s.send(t, request{method: "POST", path: "/workspaces", body: `{"name":"enveloped"}`})
		var w made
		got.data(t, &w)
		if !feedmill.IsID("ws", w.ID) || got.status != 201 || got.header.Get("Location") != "/workspaces/"+w.ID ||
			!strings.Contains(got.body, `"meta":{"url":"/workspaces/`+w.ID+`"}`) {
			t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
	})
	t.Run("only the default workspace's admin makes workspaces", func(t *testing.T) {
		refused(t, request{method: "POST", path: "/workspaces", key: admin.Key, body: `{"name":"mine"}`}, 403)
		refused(t, request{method: "POST", path: "/workspaces", key: worker.Key, body: `{"name":"mine"}`}, 403)
		refused(t, request{method: "POST", path: "/workspaces", body: `{"name":"acme"}`}, 409, "pointer /name")
		refused(t, request{method: "POST", path: "/workspaces", body: `{"name":"default"}`}, 409, "pointer /name")
	})
	t.Run("others see their own alone", func(t *testing.T) {
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/workspaces", key: admin.Key})); !slices.Equal(ids, []string{acme.ID}) {
			t.Errorf("the workspaces are %q", ids)
		}
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/keys", key: admin.Key})); !slices.Equal(ids, []string{worker.ID, admin.ID}) {
			t.Errorf("the keys are %q", ids)
		}
		refused(t, request{method: "GET", path: "/keys?workspaceId=" + other.WorkspaceID, key: admin.Key}, 404, "parameter workspaceId")
		refused(t, request{method: "GET", path: "/keys", key: worker.Key}, 403)
	})
	t.Run("the default workspace's admin sees its own, and others by name", func(t *testing.T) {
		ids := readIDs(t, s.send(t, request{method: "GET", path: "/keys"}))
		if len(ids) != 2 || ids[0] != home.ID {
			t.Errorf("the keys are %q, want %s and the bootstrap key", ids, home.ID)
		}
		if own := readIDs(t, s.send(t, request{method: "GET", path: "/keys?workspaceId=" + home.WorkspaceID})); !slices.Equal(own, ids) {
			t.Errorf("the keys of its own workspace are %q, want %q", own, ids)
		}
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/keys?workspaceId=" + acme.ID})); !slices.Equal(ids, []string{worker.ID, admin.ID}) {
			t.Errorf("the keys of one workspace are %q", ids)
		}
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/workspaces"})); !slices.Contains(ids, acme.ID) || !slices.Contains(ids, home.WorkspaceID) {
			t.Errorf("the workspaces are %q", ids)
		}
	})
	t.Run("a key is made in its own workspace", func(t *testing.T) {
		var k made
		s.send(t, request{method: "POST", path: "/keys", key: admin.Key, body: `{"name":"n","scopes":["api:read"]}`}).data(t, &k)
		if k.WorkspaceID != acme.ID {
			t.Errorf("it is made in %s", k.WorkspaceID)
		}
		s.send(t, request{method: "POST", path: "/keys", key: admin.Key, body: `{"name":"n","scopes":["api:read"],"workspaceId":"` + acme.ID + `"}`}).data(t, &k)
		if k.WorkspaceID != acme.ID {
			t.Errorf("it is made in %s", k.WorkspaceID)
		}
		for _, workspace := range []string{other.WorkspaceID, home.WorkspaceID, string(feedmill.NewID("ws")), "ws_1"} {
			refused(t, request{method: "POST", path: "/keys", key: admin.Key, body: `{"name":"n","scopes":["api:read"],"workspaceId":"` + workspace + `"}`}, 404, "pointer /workspaceId")
		}
		refused(t, request{method: "POST", path: "/keys", body: `{"name":"n","scopes":["api:read"],"workspaceId":"` + string(feedmill.NewID("ws")) + `"}`}, 404, "pointer /workspaceId")
	})
	t.Run("a key is shown once", func(t *testing.T) {
		got := s.send(t, request{method: "POST", path: "/keys", body: `{"name":"n","scopes":["admin","api:read","admin"]}`})
		var k struct {
			Key    string
			Scopes []string
		}
		got.data(t, &k)
		if !strings.HasPrefix(k.Key, "fm_") || !slices.Equal(k.Scopes, []string{"admin", "api:read"}) {
			t.Errorf("it is %+v", k)
		}
		if list := s.send(t, request{method: "GET", path: "/keys"}); strings.Contains(list.body, `"key":`) || strings.Contains(list.body, "fm_") {
			t.Errorf("the list has a key: %s", list.body)
		}
	})
	t.Run("revoking", func(t *testing.T) {
		refused(t, request{method: "DELETE", path: "/keys/" + worker.ID, key: other.Key}, 404)
		refused(t, request{method: "DELETE", path: "/keys/" + home.ID, key: admin.Key}, 404)
		// It is used, so that the server has it in memory.
		refused(t, request{method: "GET", path: "/keys", key: worker.Key}, 403)
		if got := s.send(t, request{method: "DELETE", path: "/keys/" + worker.ID, key: admin.Key}); got.status != 204 || got.body != "" {
			t.Errorf("answered %d: %s", got.status, got.body)
		}
		refused(t, request{method: "GET", path: "/keys", key: worker.Key}, 401)
		refused(t, request{method: "DELETE", path: "/keys/" + worker.ID, key: admin.Key}, 404)
		if ids := readIDs(t, s.send(t, request{method: "GET", path: "/keys", key: admin.Key})); slices.Contains(ids, worker.ID) {
			t.Errorf("a revoked key is listed in %q", ids)
		}
		if got := s.send(t, request{method: "DELETE", path: "/keys/" + other.ID}); got.status != 204 {
			t.Errorf("the default workspace's admin is answered %d: %s", got.status, got.body)
		}
		refused(t, request{method: "GET", path: "/keys", key: other.Key}, 401)
		if got := s.send(t, request{method: "DELETE", path: "/keys/" + admin.ID, key: admin.Key}); got.status != 204 {
			t.Errorf("a key that revokes itself is answered %d: %s", got.status, got.body)
		}
		refused(t, request{method: "GET", path: "/keys", key: admin.Key}, 401)
	})
}

package app

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryFaultIsListed holds that a client hears of all faults of its request
// at once, each with its place.
func TestEveryFaultIsListed(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	long := strings.Repeat("n", 201)
	for _, c := range []struct {
		name, method, path, body string
		places                   []string
	}{
		{"nothing there", "POST", "/keys", `{}`, []string{"pointer /name", "pointer /scopes"}},
		{"wrong types", "POST", "/keys", `{"name":1,"scopes":"admin","workspaceId":null}`, []string{"pointer /name", "pointer /scopes", "pointer /workspaceId"}},
		{"inside an array", "POST", "/keys", `{"name":"n","scopes":["admin",1,"","root",{}]}`, []string{"pointer /scopes/1", "pointer /scopes/2", "pointer /scopes/3", "pointer /scopes/4"}},
		{"no element", "POST", "/keys", `{"name":"n","scopes":[]}`, []string{"pointer /scopes"}},
		{"too many elements", "POST", "/keys", `{"name":"n","scopes":[` + strings.Repeat(`"admin",`, 20) + `"admin"]}`, []string{"pointer /scopes"}},
		{"blank name", "POST", "/workspaces", `{"name":" \u00a0\t"}`, []string{"pointer /name"}},
		{"long name", "POST", "/workspaces", `{"name":"` + long + `"}`, []string{"pointer /name"}},
		{"control character", "POST", "/workspaces", `{"name":"a\u0007b"}`, []string{"pointer /name"}},
		{"unknown fields", "POST", "/keys", `{"nmae":"n","scopes":["admin"],"a/b~":{}}`, []string{"pointer /a~1b~0", "pointer /name", "pointer /nmae"}},
		{"key twice", "POST", "/keys", `{"name":"a","scopes":["admin"],"name":"b"}`, []string{"pointer /name"}},
		{"not an object", "POST", "/keys", `["name"]`, []string{"pointer "}},
		{"no body", "POST", "/keys", "", []string{"pointer "}},
		{"query", "GET", "/keys?limit=0&cursor=x&cursor=y&lmit=5", "", []string{"parameter cursor", "parameter cursor", "parameter limit", "parameter lmit"}},
		{"query values", "GET", "/keys?limit=501&cursor=x", "", []string{"parameter cursor", "parameter limit"}},
		{"query that is no text", "GET", "/events?resourceId=%00&type=%ff&limit=%ff&%ff=1", "", []string{"parameter limit", "parameter resourceId", "parameter type", "parameter \ufffd"}},
		{"query of a write", "POST", "/keys?a=1&b=2", `{"name":"n","scopes":["admin"]}`, []string{"parameter a", "parameter b"}},
		{
			"all of it", "POST", "/keys?limit=1&x=y", `{"name":"","scopes":["admin","rooot"],"scopes":1,"workspace":"ws_1"}`,
			[]string{"parameter limit", "parameter x", "pointer /name", "pointer /scopes", "pointer /scopes/1", "pointer /workspace"},
		},
		{"faults before the text breaks off", "POST", "/keys?x=y", `{"name":"a","name":"b",`, []string{"parameter x", "pointer ", "pointer /name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := s.send(t, request{method: c.method, path: c.path, body: c.body})
			p := answer.problem(t)
			places := slices.Sorted(slices.Values(p.places()))
			if answer.status != 400 || p.Type != "/problems/invalid-request" || !slices.Equal(places, c.places) {
				t.Errorf("%d with faults at %q, want %q: %s", answer.status, places, c.places, answer.body)
			}
		})
	}
	if keys := s.send(t, request{method: "GET", path: "/keys"}); strings.Count(keys.body, `"id"`) != 1 {
		t.Errorf("a refused request made something: %s", keys.body)
	}
}

func TestFaultsSayWhatWasMeant(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, c := range []struct{ method, path, body, place, want string }{
		{"POST", "/keys", `{"nmae":"n","scopes":["admin"]}`, "pointer /nmae", "name"},
		{"GET", "/keys?lmit=5", "", "parameter lmit", "limit"},
		{"POST", "/keys", `{"name":"n","scopes":["write"]}`, "pointer /scopes/0", "api:write"},
		{"POST", "/keys", `{"name":7,"scopes":["admin"]}`, "pointer /name", "a string, not a number"},
		{"GET", "/keys?limit=many", "", "parameter limit", "between 1 and 500"},
	} {
		p := s.send(t, request{method: c.method, path: c.path, body: c.body}).problem(t)
		i := slices.IndexFunc(p.Errors, func(f fault) bool { return f.place() == c.place })
		if i < 0 || !strings.Contains(p.Errors[i].Detail, c.want) {
			t.Errorf("%s %s %s: the faults are %+v, want %q at %s", c.method, c.path, c.body, p.Errors, c.want, c.place)
		}
	}
}

func TestNamesAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, name := range []string{"plain", strings.Repeat("ü", 200), " around ", "\u2028\ufffd\U0001f600", `"\/`, "e\u0301"} {
		var w struct{ Name string }
		s.send(t, request{method: "POST", path: "/workspaces", body: toJSON(map[string]string{"name": name})}).data(t, &w)
		if w.Name != name {
			t.Errorf("%q became %q", name, w.Name)
		}
	}
}

package app

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// TestNobodyGetsInWithAWrongCredential walks all operations of the document with
// every kind of wrong credential. What is new in the document is walked too.
func TestNobodyGetsInWithAWrongCredential(t *testing.T) {
	d := readDocument(t)
	s := start(t, setup{})
	good := s.newKey(t, "", everyScope...)
	revoked := s.newKey(t, "", everyScope...)
	s.send(t, request{method: "DELETE", path: "/keys/" + revoked.ID})
	ends := time.Now().Add(time.Second)
	var expired made
	s.send(t, request{
		method: "POST", path: "/keys",
		body: toJSON(map[string]any{"name": "short", "scopes": everyScope, "expiresAt": ends.UTC().Format(time.RFC3339Nano)}),
	}).data(t, &expired)
	eventually(t, func() bool { return time.Now().After(ends) })
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	unsigned := encode(`{"alg":"none","typ":"JWT"}`) + "." + encode(`{"sub":"admin","scope":"admin api:read api:write events:publish","feedmill_workspace":"default","exp":4102444800}`) + "."
	wrong := map[string][][2]string{
		"nothing":              nil,
		"an empty header":      {{"Authorization", ""}},
		"no token":             {{"Authorization", "Bearer "}},
		"another scheme":       {{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(good.Key+":"))}},
		"no scheme":            {{"Authorization", good.Key}},
		"an unknown key":       {{"Authorization", "Bearer fm_" + strings.Repeat("A", 43)}},
		"a key cut short":      {{"Authorization", "Bearer " + good.Key[:len(good.Key)-1]}},
		"a key and more":       {{"Authorization", "Bearer " + good.Key + "A"}},
		"a key in other case":  {{"Authorization", "Bearer fm_" + strings.ToUpper(good.Key[3:])}},
		"the id of a key":      {{"Authorization", "Bearer " + good.ID}},
		"a revoked key":        {{"Authorization", "Bearer " + revoked.Key}},
		"an expired key":       {{"Authorization", "Bearer " + expired.Key}},
		"a token unsigned":     {{"Authorization", "Bearer " + unsigned}},
		"a pattern":            {{"Authorization", "Bearer %' OR 1=1 --"}},
		"a header of its own":  {{"X-Api-Key", good.Key}},
		"a cookie":             {{"Cookie", "session=" + good.Key + "; Authorization=" + good.Key}},
		"a key behind a comma": {{"Authorization", "Bearer fm_x, Bearer " + good.Key}},
	}
	lacking := make(map[string]string)
	for _, scope := range everyScope {
		var others []string
		for _, other := range everyScope {
			if other != scope {
				others = append(others, other)
			}
		}
		lacking[scope] = s.newKey(t, "", others...).Key
	}
	changes := len(s.audit(t, "", "?limit=500"))
	walked := 0
	for _, op := range d.operations {
		if op.scope == "" {
			continue
		}
		walked++
		ask := func(key string, header [][2]string, query string) reply {
			t.Helper()
			q := request{method: op.method, path: op.plainPath() + query, key: key, header: header}
			if len(op.bodies) > 0 {
				q.body = "{}"
			}
			return s.send(t, q)
		}
		for name, header := range wrong {
			got := ask("-", header, "")
			if p := got.problem(t); got.status != 401 || p.Type != "/problems/unauthenticated" || !strings.HasPrefix(got.header.Get("Www-Authenticate"), "Bearer ") {
				t.Errorf("%s with %s is answered %d: %s", op.id, name, got.status, got.body)
			}
			if strings.Contains(got.body, good.Key[3:20]) {
				t.Errorf("%s with %s is told the credential: %s", op.id, name, got.body)
			}
		}
		if got := ask("-", nil, "?access_token="+good.Key+"&key="+good.Key); got.status != 401 {
			t.Errorf("%s with a key in the query is answered %d: %s", op.id, got.status, got.body)
		}
		if op.scope == anyScope {
			continue
		}
		got := ask(lacking[op.scope], nil, "")
		if p := got.problem(t); got.status != 403 || !strings.Contains(p.Detail, `"`+op.scope+`"`) {
			t.Errorf("%s without its scope is answered %d: %s", op.id, got.status, got.body)
		}
	}
	if walked < 40 {
		t.Errorf("only %d operations were walked", walked)
	}
	if after := len(s.audit(t, "", "?limit=500")); after != changes {
		t.Errorf("%d changes were made on the way", after-changes)
	}
}

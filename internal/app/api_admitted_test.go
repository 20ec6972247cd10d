package app

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeyEndsWhenItExpires(t *testing.T) {
	s := start(t, setup{})
	for _, bad := range []string{`"2020-01-01T00:00:00Z"`, `"soon"`, `7`} {
		got := s.send(t, request{method: "POST", path: "/keys", body: `{"name":"n","scopes":["api:read"],"expiresAt":` + bad + `}`})
		if p := got.problem(t); got.status != 400 || !slices.Equal(p.places(), []string{"pointer /expiresAt"}) {
			t.Errorf("%s is answered %d: %s", bad, got.status, got.body)
		}
	}
	ends := time.Now().Add(time.Second) // which a busy machine is given to make it
	var k struct{ ID, Key, ExpiresAt string }
	got := s.send(t, request{method: "POST", path: "/keys", body: `{"name":"n","scopes":["api:read"],"expiresAt":"` + ends.UTC().Format(time.RFC3339Nano) + `"}`})
	got.data(t, &k)
	if got.header.Get("Cache-Control") != "no-store" || k.ExpiresAt != ends.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("it is made with %v: %s", got.header, got.body)
	}
	eventually(t, func() bool {
		got := s.send(t, request{method: "GET", path: "/events", key: k.Key})
		return got.status == 401 && strings.Contains(got.body, "expired")
	})
	if time.Now().Before(ends.Truncate(time.Millisecond)) {
		t.Error("it ended before its time")
	}
	s.send(t, request{method: "DELETE", path: "/keys/" + k.ID})
	listed := s.send(t, request{method: "GET", path: "/keys?revoked=true"}).body
	if !strings.Contains(listed, k.ID) || strings.Contains(s.send(t, request{method: "GET", path: "/keys"}).body, k.ID) {
		t.Errorf("the revoked key is to be listed where it is asked for: %s", listed)
	}
}

func TestListeningEndsWithTheKey(t *testing.T) {
	s := start(t, setup{})
	for name, end := range map[string]func(k made){
		"revoked": func(k made) { s.send(t, request{method: "DELETE", path: "/keys/" + k.ID}) },
		"expired": func(made) {},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]any{"name": "n", "scopes": []string{"api:write"}}
			if name == "expired" {
				body["expiresAt"] = time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339Nano)
			}
			var k, l made
			s.send(t, request{method: "POST", path: "/keys", body: toJSON(body)}).data(t, &k)
			s.send(t, request{method: "POST", path: "/events/listeners", key: k.Key, body: `{"events":["metric.*"]}`}).data(t, &l)
			r, err := http.NewRequest("GET", s.url+"/events/listeners/"+l.ID+"/stream", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+k.Key)
			answer, err := s.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			lines := bufio.NewScanner(answer.Body)
			lines.Scan() // a sign of life
			end(k)
			last := ""
			for lines.Scan() {
				last = lines.Text()
			}
			if answer.StatusCode != 200 || last != `{"kind":"end","reason":"credential"}` {
				t.Errorf("answered %d; the last line is %s", answer.StatusCode, last)
			}
		})
	}
}

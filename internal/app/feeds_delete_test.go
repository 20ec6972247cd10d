package app

import (
	"fmt"
	"strings"
	"testing"
)

// A feed that others are built from is deleted only by force, or after they are gone.
func TestFeedsInUseAreNotDeleted(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	parent, other := s.orders(t), s.orders(t)
	// A query, one with its own schedule, and a REST feed for each row.
	var users []string
	for _, schedule := range []string{``, `"schedule":{"every":"1h"},`} {
		f := s.queried(t, `{"name":"Query",`+schedule+`"serviceName":"feeds","viewName":"`+parent.ID+`","query":{"fields":[{"field":"id"}]}}`)
		users = append(users, f.ID)
	}
	var each restFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"name":"Each","request":{"url":"http://127.0.0.1:1/{{row.id}}"},"each":{"in":{"feedId":"` + parent.ID + `"},"as":"row"}}`}).data(t, &each)
	users = append(users, each.ID)

	remove := func(id, query string) reply {
		return s.send(t, request{method: "DELETE", path: "/data_feeds/" + id + query})
	}
	for _, query := range []string{"", "?force=false"} {
		got := remove(parent.ID, query)
		if got.status != 409 || got.problem(t).Type != "/problems/in-use" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for _, id := range users {
			if !strings.Contains(got.problem(t).Detail, id) {
				t.Errorf("%s is not named: %s", id, got.body)
			}
		}
		if strings.Contains(got.body, other.ID) || !strings.Contains(got.body, "force=true") {
			t.Error(got.body)
		}
	}
	if got := remove(parent.ID, "?force=perhaps"); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := remove(other.ID, ""); got.status != 204 {
		t.Errorf("a feed that no other is built from: %d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + parent.ID}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	// A query of a query is in the way of that one alone.
	grandchild := s.queried(t, `{"name":"Grandchild","serviceName":"feeds","viewName":"`+users[0]+`","query":{"fields":[{"field":"id"}]}}`)
	if got := remove(users[0], ""); got.status != 409 || !strings.Contains(got.body, grandchild.ID) {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, id := range append([]string{grandchild.ID}, users...) {
		if got := remove(id, ""); got.status != 204 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := remove(parent.ID, ""); got.status != 204 {
		t.Errorf("all that were built from it are gone: %d %s", got.status, got.body)
	}
}

// At most 10 of the feeds in the way are named, and force deletes a feed all the same.
func TestFeedsInUseNamesSome(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	parent := s.orders(t)
	for i := range 12 {
		s.queried(t, fmt.Sprintf(`{"name":"Query %d","serviceName":"feeds","viewName":"%s","query":{"fields":[{"field":"id"}]}}`, i, parent.ID))
	}
	got := s.send(t, request{method: "DELETE", path: "/data_feeds/" + parent.ID})
	if detail := got.problem(t).Detail; got.status != 409 || strings.Count(detail, "(Query ") != 10 || !strings.Contains(detail, " and 2 more.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{method: "DELETE", path: "/data_feeds/" + parent.ID + "?force=true"}); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

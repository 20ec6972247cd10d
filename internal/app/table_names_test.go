package app

import (
	"strings"
	"sync"
	"testing"
)

// TestTableNames holds the default names of tables, that they stay, and that a name is that of
// one feed.
func TestTableNames(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1}]`)
	tableName := func(id string) (name string) {
		var f struct{ TableName string }
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		return f.TableName
	}
	one := s.upload(t, "&name=Order+Items", "text/csv", "id\n1\n")
	two := s.fetched(t, "", `{"name":"OrderItems","request":{"url":"`+shop.URL+`"}}`)
	three := s.fetched(t, "&sourceOf="+two.ID, `{"name":"order items"}`)
	four := s.fetched(t, "", `{"name":"x","tableName":"named","request":{"url":"`+shop.URL+`"}}`)
	for id, want := range map[string]string{one.ID: "order_items", two.ID: "order_items_2", three.ID: "order_items_3", four.ID: "named"} {
		if got := tableName(id); got != want {
			t.Errorf("the table name is %q, want %q", got, want)
		}
	}
	patch := func(id, body string) reply {
		return s.send(t, request{method: "PATCH", path: "/data_feeds/" + id, body: body})
	}
	for _, id := range []string{one.ID, two.ID} {
		if got := patch(id, `{"tableName":"named"}`); got.status != 409 || !strings.Contains(got.body, "/problems/table-name-taken") {
			t.Errorf("a name that is taken: %d %s", got.status, got.body)
		}
		for _, body := range []string{`{"tableName":"A"}`, `{"tableName":""}`, `{"tableName":"1a"}`, `{"tableName":"a.b"}`, `{"tableName":null}`, `{"tableName":"` + strings.Repeat("x", 129) + `"}`} {
			if got := patch(id, body); got.status != 400 || !strings.Contains(got.body, "/tableName") {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
	}
	if got := patch(one.ID, `{"name":"Another name"}`); got.status != 200 || tableName(one.ID) != "order_items" {
		t.Errorf("after a rename: %d, %q", got.status, tableName(one.ID))
	}
	if got := patch(two.ID, `{"tableName":"größe_1"}`); got.status != 200 || tableName(two.ID) != "größe_1" {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := s.newKey(t, s.newWorkspace(t, "other").ID, everyScope...)
	var f struct{ TableName string }
	s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload&name=named", key: other.Key, body: "id\n1\n", header: [][2]string{{"Content-Type", "text/csv"}}}).data(t, &f)
	if f.TableName != "named" {
		t.Errorf("in another workspace it is %q", f.TableName)
	}
	// Feeds with one name can be created at the same time.
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { s.upload(t, "&name=Same", "text/csv", "id\n1\n") })
	}
	all.Wait()
}

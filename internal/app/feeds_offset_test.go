package app

import (
	"fmt"
	"strings"
	"testing"
)

// TestOffsets reads rows by their places, as a table that is scrolled does.
func TestOffsets(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var data strings.Builder
	data.WriteString("n,even\n")
	for i := range 5000 {
		fmt.Fprintf(&data, "%d,%t\n", i, i%2 == 0)
	}
	f := s.upload(t, "", "text/csv", data.String())
	path := "/data_feeds/" + f.ID + "/data?format=csv&fields=n&limit=2&count=true"
	for query, want := range map[string]string{
		"":                                  "5000: 0 1",
		"&offset=4321":                      "5000: 4321 4322",
		"&offset=4999":                      "5000: 4999",
		"&offset=5000":                      "5000:",
		"&offset=10&filter=even:isTrue":     "2500: 20 22",
		"&offset=3&sort=-n":                 "5000: 4996 4995",
		"&offset=2499&filter=even:isFalse":  "2500: 4999",
		"&offset=1&sort=-n&filter=n:lt:100": "100: 98 97",
	} {
		got := s.send(t, request{method: "GET", path: path + query})
		rows := got.header.Get("X-Total-Count") + ": " + strings.Join(strings.Fields(strings.TrimPrefix(got.body, "n")), " ")
		if strings.TrimSpace(rows) != want {
			t.Errorf("%s: %d %q, want %q", query, got.status, rows, want)
		}
	}
	for query, place := range map[string]string{"offset=-1": "parameter offset", "offset=1&cursor=x": "parameter offset", "count=yes": "parameter count"} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data?" + query})
		if got.status != 400 || got.problem(t).places()[0] != place {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	all, _ := s.follow(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data?format=json&fields=n&offset=4990&limit=4"}, func(int) {})
	if n := strings.Count(all, `"n"`); n != 10 {
		t.Errorf("from an offset on the pages have %d rows: %s", n, all)
	}
}

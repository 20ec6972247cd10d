package app

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var cursorOf = regexp.MustCompile(`[?&]cursor=([^&>]+)`)

// A cursor of rows goes into a query, so one that is not as it was given out is
// refused, whatever is in it.
func TestForgedCursorsOfRowsAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	csv := func(data string) string {
		var made struct{ ID string }
		s.send(t, request{
			method: "POST", path: "/data_feeds?type=dataUpload&name=n", body: data, header: [][2]string{{"Content-Type", "text/csv"}},
		}).data(t, &made)
		return "/data_feeds/" + made.ID
	}
	feed, other := csv("n,day\n1,2026-01-01\n2,2026-01-02\n3,2026-01-03\n"), csv("n,day\n1,2026-01-01\n2,2026-01-02\n3,2026-01-03\n")
	page := func(path string) string {
		t.Helper()
		got := s.send(t, request{method: "GET", path: path})
		m := cursorOf.FindStringSubmatch(got.header.Get("Link"))
		if got.status != 200 || m == nil {
			t.Fatalf("%d %v: %s", got.status, got.header, got.body)
		}
		cursor, err := url.QueryUnescape(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return cursor
	}
	const first = "/data?limit=1&sort=day,n"
	cursor := page(feed + first)
	if got := s.send(t, request{method: "GET", path: feed + first + "&cursor=" + url.QueryEscape(cursor)}); got.status != 200 || !strings.Contains(got.body, "2026-01-02") {
		t.Errorf("the second page is answered %d: %s", got.status, got.body)
	}
	forged := []string{
		"x", "AAAA", cursor[:len(cursor)-1], cursor + "A", cursor[1:], strings.ToUpper(cursor), page(other + first),
		base64.RawURLEncoding.EncodeToString([]byte(`{"v":"x","q":"y","k":["no number","no day","z"]}`)),
		base64.RawURLEncoding.EncodeToString([]byte{1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}),
	}
	for i := 0; i < len(cursor); i += 7 {
		changed := []byte(cursor)
		changed[i] ^= 1
		forged = append(forged, string(changed))
	}
	for _, f := range forged {
		for _, q := range []request{
			{method: "GET", path: feed + first + "&cursor=" + url.QueryEscape(f)},
			{method: "POST", path: feed + "/query?cursor=" + url.QueryEscape(f), body: `{"sort":[{"field":"day"},{"field":"n"}],"limit":1}`},
		} {
			got := s.send(t, q)
			if p := got.problem(t); got.status != 400 || len(p.places()) != 1 || p.places()[0] != "parameter cursor" {
				t.Errorf("%v is answered %d: %s", q, got.status, got.body)
			}
		}
	}
}

func TestCSVForSpreadsheets(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var made struct{ ID string }
	s.send(t, request{
		method: "POST", path: "/data_feeds?type=dataUpload&name=n", header: [][2]string{{"Content-Type", "text/csv"}},
		body: "=name,n\n=HYPERLINK(1),-1\n@x,-2\n\"\tx\",3\n  +1+2,4\nplain - text,5\n",
	}).data(t, &made)
	at := "/data_feeds/" + made.ID + "/data"
	exact := s.send(t, request{method: "GET", path: at + "?format=csv"}).body
	const defused = "\ufeff'=name,n\r\n'=HYPERLINK(1),-1\r\n'@x,-2\r\n'\tx,3\r\n"
	for _, path := range []string{at + "?csv=excel", at + "?format=csv&csv=excel"} {
		got := s.send(t, request{method: "GET", path: path})
		if got.status != 200 || !strings.HasPrefix(got.body, defused) || !strings.HasSuffix(got.body, "plain - text,5\r\n") || !strings.HasPrefix(got.header.Get("Content-Type"), "text/csv") {
			t.Errorf("%s is answered %d, %v: %q", path, got.status, got.header, got.body)
		}
	}
	if strings.Contains(exact, "'") || strings.HasPrefix(exact, "\ufeff") {
		t.Errorf("what is exact is %q", exact)
	}
	if got := s.send(t, request{method: "POST", path: "/data_feeds/" + made.ID + "/query?csv=excel", body: `{}`}); !strings.HasPrefix(got.body, defused) {
		t.Errorf("a query is answered %d: %q", got.status, got.body)
	}
	for _, query := range []string{"?csv=word", "?format=json&csv=excel"} {
		if got := s.send(t, request{method: "GET", path: at + query}); got.status != 400 {
			t.Errorf("%s is answered %d: %s", query, got.status, got.body)
		}
	}
}

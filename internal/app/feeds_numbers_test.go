package app

import (
	"strings"
	"testing"
)

// TestNumbersAsText reads exact numbers as strings, everywhere that rows are read.
func TestNumbersAsText(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	const wide = "1234567890123456789012345678.0123456789"
	csv := [][2]string{{"Content-Type", "text/csv"}}
	var f struct{ ID string }
	s.send(t, request{
		method: "POST", path: "/data_feeds?type=dataUpload&name=n&mode=merge&key=id", header: csv,
		body: "id,wide,ratio,more\n9007199254740993," + wide + ",2.5e0,x\n-9223372036854775808,0.5000000000,1e-7,\n",
	}).data(t, &f)
	at := "/data_feeds/" + f.ID + "/data"
	rows := `{"id":"9007199254740993","wide":"` + wide + `","ratio":2.5,"more":"x"}` + "\n" +
		`{"id":"-9223372036854775808","wide":"0.5000000000","ratio":1e-7,"more":null}` + "\n"
	plain := s.send(t, request{method: "GET", path: at + "?format=ndjson"})
	texts := s.send(t, request{method: "GET", path: at + "?format=ndjson&numbers=text"})
	if texts.body != rows || texts.header.Get("Content-Type") != "application/x-ndjson" || plain.body == rows {
		t.Errorf("as NDJSON %d, %v:\n%s", texts.status, texts.header, texts.body)
	}
	if tag := texts.header.Get("ETag"); tag == "" || tag == plain.header.Get("ETag") {
		t.Errorf("with numbers as text the tag is %q, without %q", tag, plain.header.Get("ETag"))
	} else if got := s.send(t, request{method: "GET", path: at + "?format=ndjson&numbers=text", header: [][2]string{{"If-None-Match", tag}}}); got.status != 304 {
		t.Errorf("the tag of the rows is answered %d", got.status)
	} else if got := s.send(t, request{method: "GET", path: at + "?format=ndjson", header: [][2]string{{"If-None-Match", tag}}}); got.status != 200 {
		t.Errorf("the tag of other rows is answered %d", got.status)
	}
	lines := strings.SplitAfter(rows, "\n")
	page := s.send(t, request{method: "GET", path: at + "?numbers=text&limit=1"})
	if want := "[" + strings.TrimSpace(lines[0]) + "]\n"; page.body != want || !strings.Contains(page.header.Get("Link"), "numbers=text") {
		t.Errorf("the first page is %s, %v", page.body, page.header)
	}
	query := s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/query?numbers=text", body: `{"fields":[{"field":"id","aggregate":"count","as":"n"},{"field":"ratio","aggregate":"max","as":"r"},{"field":"wide","aggregate":"max","as":"w"}]}`})
	if query.body != `[{"n":"2","r":2.5,"w":"`+wide+`"}]`+"\n" {
		t.Errorf("a query is answered %d: %s", query.status, query.body)
	}
	s.send(t, request{method: "PUT", path: at, header: csv, body: "id,wide,ratio,more\n9007199254740993,2,2.5e0,x\n"})
	if got := s.changes(t, f.ID, "from=1&numbers=text"); got != `{"_change":"update","id":"9007199254740993","wide":"2.0000000000","ratio":2.5,"more":"x","_before":{"id":"9007199254740993","wide":"`+wide+`","ratio":2.5,"more":"x"}}`+"\n" {
		t.Errorf("the changes are\n%s", got)
	}
	for _, query := range []string{"numbers=exact", "numbers=", "format=csv&numbers=text", "csv=excel&numbers=text", "format=parquet&numbers=text"} {
		got := s.send(t, request{method: "GET", path: at + "?" + query})
		if p := got.problem(t); got.status != 400 || len(p.places()) != 1 || p.places()[0] != "parameter numbers" {
			t.Errorf("%s is answered %d: %s", query, got.status, got.body)
		}
	}
	if got := s.send(t, request{method: "GET", path: at + "?numbers=text", header: [][2]string{{"Accept", "text/csv"}}}); got.status != 400 {
		t.Errorf("CSV by its media type is answered %d: %s", got.status, got.body)
	}
	for _, link := range []struct {
		format string
		status int
	}{{"ndjson", 200}, {"csv", 400}} {
		var l struct{ URL string }
		s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/links", body: `{"name":"l","format":"` + link.format + `"}`}).data(t, &l)
		path := l.URL[strings.Index(l.URL, "/links/"):] + "?version=1&numbers=text"
		if got := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Accept", "text/csv"}}}); got.status != link.status || link.status == 200 && got.body != rows {
			t.Errorf("a link with %s is answered %d: %s", link.format, got.status, got.body)
		}
	}
}

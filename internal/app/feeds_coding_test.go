package app

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Rows that are text come compressed to who takes that, under the same tag.
func TestCodingsOfRows(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", ordersCSV)
	path := "/data_feeds/" + f.ID + "/data"
	undo := map[string]func(string) string{
		"": func(body string) string { return body },
		"gzip": func(body string) string {
			r, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			return readText(t, r)
		},
		"zstd": func(body string) string {
			r, err := zstd.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			return readText(t, r)
		},
	}
	for _, format := range []string{"json", "ndjson", "csv"} {
		plain := s.send(t, request{method: "GET", path: path + "?format=" + format, header: [][2]string{{"Accept-Encoding", "identity"}}})
		for accept, want := range map[string]string{
			"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "zstd;q=0.5, gzip": "gzip", "br": "", "gzip;q=0": "", "*": "zstd", "identity, gzip;q=0.5": "",
		} {
			header := [][2]string{{"Accept-Encoding", accept}}
			got := s.send(t, request{method: "GET", path: path + "?format=" + format, header: header})
			if coding := got.header.Get("Content-Encoding"); coding != want || undo[want](got.body) != plain.body {
				t.Errorf("%s as %q: coded %q: %q", format, accept, coding, got.body)
			}
			if got.header.Get("ETag") != plain.header.Get("ETag") {
				t.Errorf("%s as %q has the tag %s", format, accept, got.header.Get("ETag"))
			}
			if head := s.send(t, request{method: "HEAD", path: path + "?format=" + format, header: header}); head.header.Get("Content-Encoding") != want || head.header.Get("ETag") != got.header.Get("ETag") {
				t.Errorf("HEAD of %s as %q: %v", format, accept, head.header)
			}
		}
	}
	if got := s.send(t, request{method: "GET", path: path + "?format=parquet", header: [][2]string{{"Accept-Encoding", "gzip"}}}); got.header.Get("Content-Encoding") != "" {
		t.Errorf("Parquet: %v", got.header)
	}
}

func readText(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Numbers that are text are not compared as texts.
func TestNumericTextIsNotCompared(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "application/json", `[{"n":"9","w":"9","z":"007"},{"n":"10.5","w":"x","z":"012"},{"n":null,"w":"10","z":"1"}]`)
	for filter, want := range map[string]int{"n:gt:9": 400, "n:between:1,9": 400, "!n:lte:9": 400, "n:eq:9": 200, "w:gt:9": 200, "z:gt:007": 200} {
		got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data?filter=" + filter})
		if got.status != want || want == 400 && !strings.Contains(got.body, "/columns with") {
			t.Errorf("%s: %d %s", filter, got.status, got.body)
		}
	}
	got := s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/query", body: `{"fields":[{"field":"n","filters":[{"op":"gt","values":["9"]}]}]}`})
	if got.status != 400 || !strings.Contains(got.body, `"/fields/0/filters/0"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

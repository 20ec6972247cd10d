package app

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The files of an archive are one table, with their names beside the rows.
func TestFilesOfArchives(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{{"2026-02.csv", "id,n\n3,x\n"}, {"2026-01.csv", "id\n1\n2\n"}, {"notes.json", `[{"id":7}]`}} {
		to, err := w.Create(file[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(to, file[1])
	}
	_ = w.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) }))
	t.Cleanup(api.Close)
	for response, want := range map[string]string{
		`{"entry":"*.csv","fileColumn":"file"}`: `{"id":1,"file":"2026-01.csv","n":null}
{"id":2,"file":"2026-01.csv","n":null}
{"id":3,"file":"2026-02.csv","n":"x"}
`,
		`{"entry":"*.csv"}`:                          "{\"id\":1,\"n\":null}\n{\"id\":2,\"n\":null}\n{\"id\":3,\"n\":\"x\"}\n",
		`{"entry":"notes.json","fileColumn":"from"}`: "{\"id\":7,\"from\":\"notes.json\"}\n",
	} {
		f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"response":`+response+`}`)
		if f.State != "ready" {
			t.Errorf("%s: %+v", response, f.LastError)
		} else if got := s.read(t, f.ID, ""); got != want {
			t.Errorf("%s: %s", response, got)
		}
	}
}

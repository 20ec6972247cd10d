package fetch

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// An answer may be a gzip file or a zip archive.
func TestArchives(t *testing.T) {
	zipped := func(files ...string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range files {
			file, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(file, "id,name\n1,"+name+"\n")
		}
		_ = w.Close()
		return b.String()
	}
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = io.WriteString(w, `[{"id":1}]`)
	_ = w.Close()
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zst := pack.EncodeAll([]byte(`[{"id":2}]`), nil)
	for _, test := range []struct{ name, body, response, want, format, failure string }{
		{"gzip", gz.String(), `{}`, `[{"id":1}]`, "json", ""},
		{"zstd", string(zst), `{}`, `[{"id":2}]`, "json", ""},
		{"one file", zipped("a.csv"), `{}`, "id,name\n1,a.csv\n", "csv", ""},
		{"a file of several", zipped("a.csv", "b.csv"), `{"entry":"b.csv"}`, "id,name\n1,b.csv\n", "csv", ""},
		{"a pattern", zipped("read.me", "b.csv"), `{"entry":"*.csv"}`, "id,name\n1,b.csv\n", "csv", ""},
		{"which one is not said", zipped("a.csv", "b.csv"), `{}`, "", "", "zip-entry"},
		{"no such file", zipped("a.csv"), `{"entry":"c.csv"}`, "", "", "zip-entry"},
		{"cut", zipped("a.csv")[:60], `{}`, "", "", "source-truncated"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/zip")
				_, _ = io.WriteString(w, test.body)
			})
			definition := `{"request":{"url":"https://api.test/"},"response":` + test.response + `}`
			d, err := spec.Parse([]byte(definition), 0)
			if err != nil {
				t.Fatal(err)
			}
			job := l.job(definition)
			job.Entry = d.Response.Entry
			got := new(pages)
			_, err = l.fetcher.Fetch(t.Context(), job, got)
			if FailureOf(err) != test.failure || strings.Join(got.texts, "") != test.want || strings.Join(got.formats, "") != test.format {
				t.Errorf("%s: %v %q %q", test.name, err, got.texts, got.formats)
			}
		})
	}
}

// All files that match are read, each as a page, in the order of their names; one may be
// compressed itself.
func TestSeveralEntries(t *testing.T) {
	var gz, b bytes.Buffer
	packed := gzip.NewWriter(&gz)
	_, _ = io.WriteString(packed, `{"id":9}`)
	_ = packed.Close()
	w := zip.NewWriter(&b)
	for _, file := range [][2]string{{"out/b.csv", "id\n2\n"}, {"read.me", "x"}, {"out/c.ndjson.gz", gz.String()}, {"out/empty.csv", ""}, {"out/a.csv", "id\n1\n"}, {"__MACOSX/out/a.csv", "x"}} {
		to, err := w.Create(file[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(to, file[1])
	}
	_ = w.Close()
	l := newLab(t)
	l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) })
	stageFolder := t.TempDir() + "/stage"
	fetch := func(entry string, staged bool) (texts, with []string, result Result, err error) {
		job := l.job(`{"request":{"url":"https://api.test/{{x}}"},"each":{"in":{"values":["p","q"]},"as":"x"},"response":{"entry":"` + entry + `","fileColumn":"file"}}`)
		job.Entry, job.FileColumn = entry, "file"
		if staged {
			job.Stage, job.Fingerprint, job.Close = stageFolder, "x", new([]io.Closer)
			defer func() {
				for _, c := range *job.Close {
					_ = c.Close()
				}
			}()
		}
		got := &pages{on: func(p feedmill.FetchedPage) {
			for _, c := range p.With {
				with = append(with, c.Name+"="+string(c.JSON))
			}
		}}
		result, err = l.fetcher.Fetch(t.Context(), job, got)
		return got.texts, with, result, err
	}
	for _, asked := range []int{2, 0} {
		texts, with, result, err := fetch("out/*", true)
		const files = `file="out/a.csv" file="out/b.csv" file="out/c.ndjson.gz"`
		if err != nil || strings.Join(texts, "|") != "id\n1\n|id\n2\n|{\"id\":9}|id\n1\n|id\n2\n|{\"id\":9}" || strings.Join(with, " ") != files+" "+files || result.Records != 6 || int(result.Requests) != asked {
			t.Errorf("%q %q %+v %v", texts, with, result, err)
		}
	}
	if texts, _, _, err := fetch("*.md", false); FailureOf(err) != "zip-entry" {
		t.Errorf("%q %v", texts, err)
	}
}

package app

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// archive is a zip archive of files with their contents.
func archive(t *testing.T, files ...[2]string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, file := range files {
		f, err := w.Create(file[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, file[1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestUploadsInFiles sends data in files of gzip and zstd and in archives, by every door.
func TestUploadsInFiles(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	original := s.upload(t, "", "application/x-ndjson", hard)
	want := s.read(t, original.ID, "")
	parquet := s.export(t, original.ID, "parquet")
	xlsx := s.export(t, original.ID, "xlsx")
	csv, json := "a,b\n1,2\n", `[{"a":1,"b":2}]`
	two := archive(t, [2]string{"one.csv", csv}, [2]string{"d/two.json", json})
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	form := func(name, mediaType, data string) string {
		head := "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"" + name + "\"\r\n"
		if mediaType != "" {
			head += "Content-Type: " + mediaType + "\r\n"
		}
		return head + "\r\n" + data + "\r\n--x--\r\n"
	}
	const rows, multipart = `{"a":1,"b":2}` + "\n", "multipart/form-data; boundary=x"
	for _, test := range []struct{ name, query, mediaType, data, format, want string }{
		{"gzip by its type", "", "application/gzip", gzipped(csv), "csv", rows},
		{"gzip by its content", "", "application/json", gzipped(json), "json", rows},
		{"gzip and a format", "&format=csv", "application/octet-stream", gzipped(csv), "csv", rows},
		{"zstd", "", "application/zstd", string(pack.EncodeAll([]byte(json), nil)), "json", rows},
		{"the only file", "", "application/zip", archive(t, [2]string{"one.csv", csv}), "csv", rows},
		{"a file by its name", "&entry=d/two.json", "application/zip", two, "json", rows},
		{"a file by a pattern", "&entry=*.csv", "application/x-zip-compressed", two, "csv", rows},
		{"an archive called CSV", "&entry=one.csv", "text/csv", two, "csv", rows},
		{"Parquet in gzip", "", "application/gzip", gzipped(parquet), "parquet", want},
		{"Parquet in an archive", "", "application/zip", archive(t, [2]string{"x.parquet", parquet}), "parquet", want},
		{"gzip in a form", "", multipart, form("o.csv.gz", "application/gzip", gzipped(csv)), "csv", rows},
		{"gzip in a form by its name", "", multipart, form("o.csv.gz", "", gzipped(csv)), "csv", rows},
		{"an archive in a form", "&entry=one.csv", multipart, form("o.zip", "application/octet-stream", two), "csv", rows},
	} {
		f := s.upload(t, test.query, test.mediaType, test.data)
		if got := s.read(t, f.ID, ""); got != test.want || !strings.Contains(string(f.Source), `"format":"`+test.format+`"`) {
			t.Errorf("%s is %s, want %s: %s", test.name, got, test.want, f.Source)
		}
	}
	for name, data := range map[string]string{"a workbook": xlsx, "a workbook in an archive": archive(t, [2]string{"x.xlsx", xlsx})} {
		f := s.upload(t, "", "application/zip", data)
		if f.RowCount != 3 || !strings.Contains(string(f.Source), `"sheets":[{"index":1`) {
			t.Errorf("%s has %d rows: %s", name, f.RowCount, f.Source)
		}
	}
	for _, test := range []struct {
		query, mediaType, data, says string
		status                       int
	}{
		{"", "application/zip", two, "d/two.json, one.csv", 400},
		{"&entry=x", "application/zip", two, "d/two.json, one.csv", 400},
		{"&entry=", "application/zip", two, "must not be empty", 400},
		{"&entry=x", "text/csv", csv, "applies only to ZIP archives", 400},
		{"&sheet=2", "application/zip", archive(t, [2]string{"one.csv", csv}), "applies only to spreadsheets", 400},
		{"", "application/gzip", gzipped("\x01\x02"), "could not be detected", 400},
		{"", "application/gzip", gzipped(gzipped(csv)), "compressed again", 422},
		{"", "application/gzip", "", "", 400},
	} {
		got := s.sendData(t, "POST", "/data_feeds?type=dataUpload"+test.query, test.mediaType, test.data)
		if got.status != test.status || !strings.Contains(got.body, test.says) {
			t.Errorf("%s %q: %d %s", test.query, test.says, got.status, got.body)
		}
	}
	// What was named stays named, where it is an archive again.
	f := s.upload(t, "&entry=one.csv", "application/zip", two)
	for _, data := range []string{two, csv} {
		s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data", "text/csv", strings.ReplaceAll(data, "1,2", "3,4")).data(t, &f)
	}
	preview := s.sendData(t, "POST", "/data_feeds/preview?type=dataUpload&entry=d/two.json", "application/zip", two)
	if preview.status != 200 || !strings.Contains(preview.body, `"rows":[{"a":1,"b":2}]`) || !strings.Contains(preview.body, `"entry":"d/two.json"`) {
		t.Errorf("the preview is %d %s", preview.status, preview.body)
	}
}

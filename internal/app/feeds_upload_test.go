package app

import (
	"bytes"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zstdText(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestFormatsOfUploads(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, c := range []struct {
		name, query, mediaType, data string
		header                       [][2]string
		columns, rows                string
	}{
		{name: "csv", mediaType: "text/csv; charset=utf-8", data: "a,b\n1,x\n", columns: "a integer, b text", rows: `{"a":1,"b":"x"}`},
		{name: "tsv", mediaType: "text/tab-separated-values", data: "a\tb\n1,5\tx\n", columns: "a decimal, b text", rows: `{"a":1.5,"b":"x"}`},
		{name: "json", mediaType: "application/json", data: `[{"a":1,"b":{"c":[1,2]}}]`, columns: "a integer, b.c json", rows: `{"a":1,"b.c":[1,2]}`},
		{name: "no content type", mediaType: "", data: `{"a":true}`, columns: "a boolean", rows: `{"a":true}`},
		{name: "ndjson", mediaType: "application/x-ndjson", data: "{\"a\":1}\n{\"a\":2.5}\n", columns: "a decimal", rows: "{\"a\":1.0}\n{\"a\":2.5}"},
		{name: "format over type", query: "&format=csv", mediaType: "application/x-www-form-urlencoded", data: "a\n1\n", columns: "a integer", rows: `{"a":1}`},
		{name: "octet-stream", query: "&format=ndjson", mediaType: "application/octet-stream", data: `{"a":1}`, columns: "a integer", rows: `{"a":1}`},
		{name: "text", query: "&types=text", mediaType: "text/csv", data: "a,b\n007,1.50\n", columns: "a text, b text", rows: `{"a":"007","b":"1.50"}`},
		{name: "path", query: "&path=$.x.y[*]", mediaType: "application/json", data: `{"x":{"y":[{"a":1},{"a":2}],"z":[{"q":1},{"q":2},{"q":3}]}}`, columns: "a integer", rows: "{\"a\":1}\n{\"a\":2}"},
		{name: "explode", query: "&explode=lines", mediaType: "application/json", data: `[{"o":1,"lines":[{"s":"x"},{"s":"y"}]}]`, columns: "o integer, lines.s text", rows: "{\"o\":1,\"lines.s\":\"x\"}\n{\"o\":1,\"lines.s\":\"y\"}"},
		{name: "gzip", mediaType: "text/csv", data: gzipped("a\n1\n"), header: [][2]string{{"Content-Encoding", "gzip"}}, columns: "a integer", rows: `{"a":1}`},
		{name: "zstd", mediaType: "text/csv", data: zstdText("a\n1\n"), header: [][2]string{{"Content-Encoding", "zstd"}}, columns: "a integer", rows: `{"a":1}`},
		{name: "windows-1252", mediaType: "text/csv", data: "a\nM\xfcller\n", columns: "a text", rows: `{"a":"Müller"}`},
		{name: "header only", mediaType: "text/csv", data: "a,b\n", columns: "a text, b text", rows: ""},
		{name: "no records", mediaType: "application/json", data: "[]", columns: "", rows: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f shownFeed
			s.sendData(t, "POST", "/data_feeds?type=dataUpload"+c.query, c.mediaType, c.data, c.header...).data(t, &f)
			if got := f.types(); got != c.columns {
				t.Errorf("the columns are %s, want %s", got, c.columns)
			}
			if got := strings.TrimSuffix(s.read(t, f.ID, ""), "\n"); got != c.rows {
				t.Errorf("the rows are %s, want %s", got, c.rows)
			}
		})
	}
	if f := s.upload(t, "", "text/csv", "a,b\n"); len(f.Warnings) != 1 || f.Warnings[0].Code != "no-rows" {
		t.Errorf("a header alone: %+v", f)
	}
}

// form is a form with the parts, each of a file name, a type and a content.
func form(t *testing.T, parts ...[3]string) (mediaType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + p[0] + `"`}}
		if p[1] != "" {
			h.Set("Content-Type", p[1])
		}
		part, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		part.Write([]byte(p[2]))
	}
	w.Close()
	return w.FormDataContentType(), b.String()
}

func TestForms(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for _, c := range []struct {
		name     string
		parts    [][3]string
		query    string
		status   int
		feedName string
	}{
		{name: "browser", parts: [][3]string{{"sales.csv", "text/csv", "a\n1\n"}}, status: 201, feedName: "sales.csv"},
		{name: "curl", parts: [][3]string{{"sales.csv", "application/octet-stream", "a\n1\n"}}, status: 201, feedName: "sales.csv"},
		{name: "with Excel installed", parts: [][3]string{{"sales.CSV", "application/vnd.ms-excel", "a\n1\n"}}, status: 201, feedName: "sales.CSV"},
		{name: "no type", parts: [][3]string{{"x.jsonl", "", "{\"a\":1}\n"}}, status: 201, feedName: "x.jsonl"},
		{name: "named", parts: [][3]string{{"x.json", "", `[{"a":1}]`}}, query: "&name=Mine", status: 201, feedName: "Mine"},
		{name: "unknown", parts: [][3]string{{"x.bin", "application/octet-stream", "a"}}, status: 400},
		{name: "a cut workbook", parts: [][3]string{{"x.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK"}}, status: 422},
		{name: "two files", parts: [][3]string{{"a.csv", "text/csv", "a\n1\n"}, {"b.csv", "text/csv", "a\n1\n"}}, status: 400},
		{name: "no file", status: 400},
		{name: "empty file", parts: [][3]string{{"a.csv", "text/csv", ""}}, status: 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			mediaType, body := form(t, c.parts...)
			got := s.sendData(t, "POST", "/data_feeds?type=dataUpload"+c.query, mediaType, body)
			if got.status != c.status {
				t.Fatalf("%d: %s", got.status, got.body)
			}
			if got.status >= 400 {
				got.problem(t)
				return
			}
			var f shownFeed
			if got.data(t, &f); f.Name != c.feedName || f.RowCount != 1 {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestNamesOfUploads(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	for disposition, want := range map[string]string{
		"":                                        "Uploaded data",
		`attachment; filename="sales.csv"`:        "sales.csv",
		`attachment; filename=sales.csv`:          "sales.csv",
		`attachment; filename="C:\\x\\a.csv"`:     "a.csv",
		`attachment; filename="../../etc/passwd"`: "passwd",
		`attachment; filename=".."`:               "Uploaded data",
		`attachment; filename="x.csv"; filename*=UTF-8''Ums%C3%A4tze%202026.csv`: "Umsätze 2026.csv",
		`attachment; filename*=iso-8859-1'de'Ums%E4tze.csv`:                      "Umsätze.csv",
		`attachment; filename="` + strings.Repeat("é", 300) + `"`:                strings.Repeat("é", 200),
		`attachment; filename="a` + "\t" + `b.csv"`:                              "ab.csv",
		`nonsense ; ;; =`: "Uploaded data",
	} {
		var header [][2]string
		if disposition != "" {
			header = [][2]string{{"Content-Disposition", disposition}}
		}
		var f shownFeed
		s.sendData(t, "POST", "/data_feeds?type=dataUpload", "text/csv", "a\n1\n", header...).data(t, &f)
		if f.Name != want {
			t.Errorf("%s names %q, want %q", disposition, f.Name, want)
		}
	}
}

func TestBadUploadsKeepNothing(t *testing.T) {
	t.Parallel()
	s := start(t, setup{env: []string{"FEEDMILL_MAX_UPLOAD_BYTES=100000"}})
	bomb := gzipped("a\n" + strings.Repeat("1\n", 1<<20))
	for _, c := range []struct {
		name, query, mediaType, data string
		header                       [][2]string
		status                       int
		place, says                  string
	}{
		{name: "empty", mediaType: "text/csv", data: "\n", status: 400, place: "pointer ", says: "empty"},
		{name: "no body", mediaType: "application/json", status: 400, place: "pointer "},
		{name: "type missing", query: "-", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter type", says: "dataUpload"},
		{name: "type unknown", query: "-?type=magic", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter type", says: "rest"},
		{name: "data for a query", query: "-?type=queryBuilder", mediaType: "text/csv", data: "a\n1\n", status: 415, place: "header Content-Type", says: "application/yaml"},
		{name: "unknown content type", mediaType: "image/png", data: "a", status: 415, place: "header Content-Type"},
		{name: "no parquet", mediaType: "application/vnd.apache.parquet", data: "PAR1", status: 422, says: "only 4 bytes"},
		{name: "octet-stream", mediaType: "application/octet-stream", data: "a\n1\n", status: 400, place: "parameter format"},
		{name: "path of csv", query: "&path=$.a", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter path"},
		{name: "path", query: "&path=$[", mediaType: "application/json", data: "[]", status: 400, place: "parameter path"},
		{name: "mode", query: "&mode=add", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter mode", says: "append"},
		{name: "merge without a key", query: "&mode=merge", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter key", says: "required"},
		{name: "key without merge", query: "&mode=append&key=a", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter key", says: "mode=merge"},
		{name: "key twice", query: "&mode=merge&key=a,a", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter key", says: "twice"},
		{name: "source of an upload", query: "&sourceOf=df_00000000000000000000000000", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter sourceOf", says: "type=rest"},
		{name: "types", query: "&types=some", mediaType: "text/csv", data: "a\n1\n", status: 400, place: "parameter types"},
		{name: "charset", mediaType: "text/csv; charset=ebcdic", data: "a\n1\n", status: 415, place: "header Content-Type"},
		{name: "encoding", mediaType: "text/csv", header: [][2]string{{"Content-Encoding", "br"}}, data: "a\n1\n", status: 415, place: "header Content-Encoding"},
		{name: "binary", mediaType: "text/csv", data: "a\x00\x01\x02\n\x03", status: 422, says: "byte 1"},
		{name: "a workbook as csv", mediaType: "text/csv", data: "PK\x03\x04xxxx", status: 422, says: "ZIP archive"},
		{name: "broken json", mediaType: "application/json", data: "[{\"a\":1},\n{\"a\":}]", status: 422, says: "line 2, column 6"},
		{name: "truncated gzip", mediaType: "text/csv", header: [][2]string{{"Content-Encoding", "gzip"}}, data: gzipped(ordersCSV)[:60], status: 422, says: "truncated"},
		{name: "no gzip", mediaType: "text/csv", header: [][2]string{{"Content-Encoding", "gzip"}}, data: "a\n1\n", status: 422},
		{name: "bomb", mediaType: "text/csv", header: [][2]string{{"Content-Encoding", "gzip"}}, data: bomb, status: 413, says: "100000 bytes"},
		{name: "too large", mediaType: "text/csv", data: "a\n" + strings.Repeat("1\n", 600_000), status: 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, ok := strings.CutPrefix(c.query, "-")
			if !ok {
				path = "?type=dataUpload" + c.query
			}
			for _, chunked := range []bool{false, true} {
				got := s.send(t, request{
					method: "POST", path: "/data_feeds" + path, body: c.data, chunked: chunked && c.data != "",
					header: append([][2]string{{"Content-Type", c.mediaType}}, c.header...),
				})
				p := got.problem(t)
				if got.status != c.status || !strings.Contains(got.body, c.says) || c.place != "" && (len(p.Errors) != 1 || p.Errors[0].place() != c.place) {
					t.Errorf("%d: %s", got.status, got.body)
				}
				if accepts := got.header.Get("Accept-Post"); (accepts != "") != (got.status == 415) {
					t.Errorf("%d with Accept-Post %q", got.status, accepts)
				}
			}
		})
	}
	if names := s.files(t); len(names) > 0 {
		t.Errorf("files are left: %v", names)
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds"}); got.body != "[]" {
		t.Errorf("there are feeds: %s", got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/events"}); got.body != "[]" {
		t.Errorf("there are events: %s", got.body)
	}
}

func TestAllFaultsOfAnUploadAreListed(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	got := s.sendData(t, "POST", "/data_feeds?format=pdf&types=x&mode=merge&name=%20&nme=x", "text/csv", "a\n1\n")
	if places := got.problem(t).places(); len(places) != 6 || got.status != 400 {
		t.Errorf("%d %q", got.status, places)
	}
}

func TestPreviewKeepsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var p struct {
		shownFeed
		Rows []map[string]any
	}
	s.sendData(t, "POST", "/data_feeds/preview?type=dataUpload", "text/csv", "n\n"+strings.Repeat("1\n", 250)).data(t, &p)
	if len(p.Rows) != 100 || p.RowCount != 250 || p.types() != "n integer" {
		t.Errorf("%d rows of %d, %s", len(p.Rows), p.RowCount, p.types())
	}
	// The handle of the preview holds the upload for 15 minutes, and nothing else is stored.
	files := slices.DeleteFunc(s.files(t), func(name string) bool { return strings.Contains(name, "/private/") })
	if got := s.send(t, request{method: "GET", path: "/data_feeds"}); got.body != "[]" || len(files) > 0 {
		t.Errorf("kept: %s %v", got.body, files)
	}
}

func TestUploadHappensOnce(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	response := [2]string{"Idempotency-Key", "one"}
	first := s.sendData(t, "POST", "/data_feeds?type=dataUpload", "text/csv", ordersCSV, response)
	again := s.sendData(t, "POST", "/data_feeds?type=dataUpload", "text/csv", ordersCSV, response)
	if first.status != 201 || again.body != first.body || again.status != 201 {
		t.Errorf("%d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	other := s.sendData(t, "POST", "/data_feeds?type=dataUpload", "text/csv", ordersCSV+"4,,,,\n", response)
	if other.status != 409 {
		t.Errorf("other data under the key: %d", other.status)
	}
	if n := len(s.files(t)); n != 2 {
		t.Errorf("%d files", n)
	}
}

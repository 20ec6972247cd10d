package app

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/file"
)

func TestFormatsOfRows(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "&name=Orders%20%E2%82%AC.csv", "text/csv", ordersCSV)
	path := "/data_feeds/" + f.ID + "/data"
	rows := func(body string) string { return body }
	arrowRows := func(body string) string {
		r, err := ipc.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		n := int64(0)
		var total arrow.Array
		for r.Next() {
			n += r.RecordBatch().NumRows()
			total = r.RecordBatch().Column(0)
			if got := total.(*array.Int64).Value(0); got != 1 {
				t.Errorf("the first order is %d", got)
			}
		}
		return fmt.Sprint(n, r.Schema().NumFields(), r.Err())
	}
	parquetRows := func(body string) string {
		r, err := file.NewParquetReader(bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.NumRows(), r.MetaData().Schema.NumColumns())
	}
	workbookRows := func(body string) string {
		z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		part, err := z.Open("xl/worksheets/sheet1.xml")
		if err != nil {
			t.Fatal(err)
		}
		defer part.Close()
		var sheet struct {
			Rows []struct {
				Cells []struct {
					Text string `xml:"is>t"`
				} `xml:"c"`
			} `xml:"sheetData>row"`
		}
		if err := xml.NewDecoder(part).Decode(&sheet); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %d %s", len(sheet.Rows)-1, len(sheet.Rows[0].Cells), sheet.Rows[3].Cells[1].Text)
	}
	const asJSON = `[{"order":1,"customer":"Ada","total":12.50,"placed":"2026-11-01","paid":true},` + "\n" +
		`{"order":2,"customer":"Max","total":7.00,"placed":"2026-11-02","paid":false},` + "\n" +
		`{"order":3,"customer":"Müller, Eva","total":null,"placed":"2026-11-03","paid":true}]` + "\n"
	for _, c := range []struct {
		format, accept, contentType, name string
		of                                func(string) string
		want                              string
	}{
		{"json", "application/json", "application/json", "", rows, asJSON},
		{"ndjson", "application/x-ndjson", "application/x-ndjson", "", rows, strings.NewReplacer("[{", "{", "},", "}", "}]", "}").Replace(asJSON)},
		{"csv", "text/csv", "text/csv; charset=utf-8; header=present", "attachment; filename*=utf-8''Orders%20%E2%82%AC.csv", rows, strings.ReplaceAll(ordersCSV, "\n", "\r\n")},
		{"arrow", "application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.stream", "attachment; filename*=utf-8''Orders%20%E2%82%AC.arrows", arrowRows, "3 5 <nil>"},
		{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "attachment; filename*=utf-8''Orders%20%E2%82%AC.xlsx", workbookRows, "3 5 Müller, Eva"},
		{"parquet", "application/vnd.apache.parquet", "application/vnd.apache.parquet", "attachment; filename*=utf-8''Orders%20%E2%82%AC.parquet", parquetRows, "3 5"},
	} {
		t.Run(c.format, func(t *testing.T) {
			byName := s.send(t, request{method: "GET", path: path + "?format=" + c.format})
			byAccept := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Accept", c.accept}}})
			for _, got := range []reply{byName, byAccept} {
				if got.status != 200 || got.header.Get("Content-Type") != c.contentType || got.header.Get("Vary") != "Accept" || got.header.Get("Content-Disposition") != c.name {
					t.Fatalf("%d %v: %s", got.status, got.header, got.body)
				}
				if rows := c.of(got.body); rows != c.want {
					t.Errorf("got %q, want %q", rows, c.want)
				}
			}
			etag := byName.header.Get("ETag")
			if etag == "" || etag != byAccept.header.Get("ETag") {
				t.Errorf("tags %q and %q", etag, byAccept.header.Get("ETag"))
			}
			head := s.send(t, request{method: "HEAD", path: path + "?format=" + c.format})
			length := ""
			if c.format == "parquet" { // parts of it can be asked for
				length = strconv.Itoa(len(byName.body))
			}
			if head.status != 200 || head.header.Get("ETag") != etag || head.header.Get("Content-Type") != c.contentType || head.header.Get("Content-Length") != length || head.body != "" {
				t.Errorf("HEAD: %d %v", head.status, head.header)
			}
			for _, method := range []string{"GET", "HEAD"} {
				got := s.send(t, request{method: method, path: path + "?format=" + c.format, header: [][2]string{{"If-None-Match", `"x", W/` + etag}}})
				if got.status != 304 || got.body != "" || got.header.Get("ETag") != etag {
					t.Errorf("%s of what is known: %d %v %s", method, got.status, got.header, got.body)
				}
			}
		})
	}
	for accept, want := range map[string]int{
		"*/*": 200, "text/*;q=0.5, application/*;q=0.1": 200, "": 200, "image/png, application/json;q=0.1": 200,
		"image/png": 406, "application/json;q=0": 406, "application/vnd.ms-excel": 406,
	} {
		if got := s.send(t, request{method: "GET", path: path, header: [][2]string{{"Accept", accept}}}); got.status != want {
			t.Errorf("Accept %q: %d %s", accept, got.status, got.body)
		}
	}
}

func TestRowsOfAQuery(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	f := s.upload(t, "", "text/csv", "id,name,\"a:b,c\",day\n1,Ada,x,2026-01-01\n2,,y,2026-01-02\n3,\"\",\"p,q\",2026-02-01\n4,ada,,\n")
	for query, want := range map[string]string{
		"fields=id":                               "1 2 3 4",
		"fields=id&sort=-id":                      "4 3 2 1",
		"fields=id&sort=day,-id":                  "1 2 3 4",
		"fields=id&sort=-\"a:b,c\"":               "2 1 3 4",
		"fields=id&filter=id:gt:1&filter=id:lt:4": "2 3",
		"fields=id&filter=!id:between:2,3":        "1 4",
		"fields=id&filter=name:eq:":               "2",
		"fields=id&filter=name:eq:\"\"":           "3",
		"fields=id&filter=name:eq:,Ada":           "1 2",
		"fields=id&filter=name:contains:ADA":      "1 4",
		"fields=id&filter=name:isNull":            "2",
		"fields=id&filter=name:isNull:":           "2",
		"fields=id&filter=\"a:b,c\":eq:\"p,q\",y": "2 3",
		"fields=id&filter=!\"a:b,c\":isNull":      "1 2 3",
		"fields=id&filter=day:gte:2026-01-02":     "2 3",
		"fields=id&limit=2":                       "1 2",
		"fields=id&filter=name:matches:^[Aa]da$":  "1 4",
		"fields=id&filter=name:eq:nobody":         "",
		"fields=id&version=1":                     "1 2 3 4",
	} {
		values, err := url.ParseQuery(strings.ReplaceAll(query, "+", "%2B"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(`{"id":`, "", "}\n", " ").Replace(s.read(t, f.ID, "&"+values.Encode()))
		if strings.TrimSpace(got) != want {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
	for query, place := range map[string]string{
		"fields=":               "parameter fields",
		"fields=nme":            "parameter fields",
		"fields=id,id":          "parameter fields",
		"sort=x":                "parameter sort",
		"sort=\"id":             "parameter sort",
		"filter=id":             "parameter filter",
		"filter=id:gt":          "parameter filter",
		"filter=id:gt:x":        "parameter filter",
		"filter=id:almost:1":    "parameter filter",
		"filter=name:matches:(": "parameter filter",
		"filter=\"id\"x:eq:1":   "parameter filter",
		"limit=0":               "parameter limit",
		"cursor=x":              "parameter cursor",
		"version=0":             "parameter version",
		"format=pdf":            "parameter format",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"GET", "HEAD"} {
			got := s.send(t, request{method: method, path: "/data_feeds/" + f.ID + "/data?" + values.Encode()})
			if got.status != 400 || method == "GET" && got.problem(t).places()[0] != place {
				t.Errorf("%s %s: %d %s", method, query, got.status, got.body)
			}
		}
	}
	if got := s.send(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data?version=9"}); got.status != 404 {
		t.Errorf("a version that is not there: %d", got.status)
	}
}

// follow reads all pages.
func (s *service) follow(t *testing.T, q request, each func(page int)) (all string, pages int) {
	t.Helper()
	for {
		got := s.send(t, q)
		if got.status != 200 {
			t.Fatalf("%d: %s", got.status, got.body)
		}
		all += got.body
		pages++
		each(pages)
		m := nextURL.FindStringSubmatch(got.header.Get("Link"))
		if m == nil {
			return all, pages
		}
		q.path = m[1] + "?" + m[2]
	}
}

// TestPagesAreOfOneVersion replaces the data between pages.
func TestPagesAreOfOneVersion(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	var data strings.Builder
	data.WriteString("n\n")
	for i := range 2500 {
		fmt.Fprintln(&data, i)
	}
	f := s.upload(t, "", "text/csv", data.String())
	replaced := func(int) { s.sendData(t, "PUT", "/data_feeds/"+f.ID+"/data", "text/csv", "n\n7\n") }
	all, pages := s.follow(t, request{method: "GET", path: "/data_feeds/" + f.ID + "/data?sort=-n"}, replaced)
	if n := strings.Count(all, `{"n":`); n != 2500 || pages != 3 || !strings.HasPrefix(all, `[{"n":2499},`) {
		t.Errorf("%d rows on %d pages: %.60s", n, pages, all)
	}
	all, pages = s.follow(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/query?version=1", body: `{"limit":900}`}, replaced)
	if n := strings.Count(all, `{"n":`); n != 2500 || pages != 3 {
		t.Errorf("%d rows on %d pages of a query", n, pages)
	}
	if got := s.read(t, f.ID, ""); got != "{\"n\":7}\n" {
		t.Errorf("the current version has %.60s", got)
	}
	if got := s.read(t, f.ID, "&version=1"); strings.Count(got, "\n") != 2500 {
		t.Errorf("a file has %d rows", strings.Count(got, "\n"))
	}
}

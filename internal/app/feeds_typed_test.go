package app

import (
	"strings"
	"testing"
)

// hard is data with a column of every type, nulls and values at the ends of their types.
const hard = `{"text":"a, \"b\"\n","integer":-9223372036854775808,"decimal":12345678901234567890.12,"number":1.5e300,"boolean":true,"date":"0001-01-01","timestamp":"2024-02-29T12:30:00.123456Z","json":[1,{"a":null}]}
{"text":null,"integer":null,"decimal":null,"number":null,"boolean":null,"date":null,"timestamp":null,"json":null}
{"text":"","integer":9223372036854775807,"decimal":-0.01,"number":-2.5e-7,"boolean":false,"date":"9999-12-31","timestamp":"1969-12-31T23:59:59.999999Z","json":[]}
`

// export reads a feed in a format.
func (s *service) export(t *testing.T, feed, format string) string {
	t.Helper()
	got := s.send(t, request{method: "GET", path: "/data_feeds/" + feed + "/data?format=" + format})
	if got.status != 200 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	return got.body
}

// TestExportsAreReadBack holds that what the service writes with types it reads back equal.
func TestExportsAreReadBack(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	original := s.upload(t, "", "application/x-ndjson", hard)
	if want := "text text, integer integer, decimal decimal, number number, boolean boolean, date date, timestamp timestamp, json json"; original.types() != want {
		t.Fatalf("the columns are %s, want %s", original.types(), want)
	}
	want := s.read(t, original.ID, "")
	for format, mediaType := range map[string]string{"parquet": "application/vnd.apache.parquet", "arrow": "application/vnd.apache.arrow.stream"} {
		data := s.export(t, original.ID, format)
		again := s.upload(t, "", mediaType, data)
		if again.types() != original.types() || s.read(t, again.ID, "") != want || len(again.Warnings) != 0 {
			t.Errorf("%s is read as %s, %v:\n%s\nwant %s:\n%s", format, again.types(), again.Warnings, s.read(t, again.ID, ""), original.types(), want)
		}
		text := s.upload(t, "&types=text", mediaType, data)
		if strings.Count(text.types(), " text") != 8 || text.RowCount != 3 {
			t.Errorf("as text: %s", text.types())
		}
		// More rows of the same kind, and the same keys.
		s.sendData(t, "PUT", "/data_feeds/"+again.ID+"/data?mode=append&format="+format, "application/octet-stream", data).data(t, &again)
		if again.RowCount != 6 || again.Version != 2 || s.read(t, again.ID, "") != want+want {
			t.Errorf("appended: %+v", again)
		}
		preview := s.sendData(t, "POST", "/data_feeds/preview?type=dataUpload&format="+format, "application/octet-stream", data)
		if preview.status != 200 || !strings.Contains(preview.body, `"rowCount":3`) || !strings.Contains(preview.body, `12345678901234567890.12`) {
			t.Errorf("the preview is %d %s", preview.status, preview.body)
		}
		for _, query := range []string{"", "&types=text"} {
			cut := s.sendData(t, "POST", "/data_feeds?type=dataUpload"+query, mediaType, data[:len(data)/2])
			if cut.status != 422 {
				t.Errorf("half of it: %d %s", cut.status, cut.body)
			}
		}
	}
}

// TestAnswersWithTypes holds that the answers of an API can be Parquet, Arrow and XML.
func TestAnswersWithTypes(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	original := s.upload(t, "", "application/x-ndjson", hard)
	want := s.read(t, original.ID, "")
	for _, format := range []string{"parquet", "arrow"} {
		shop := newShop(t, s.export(t, original.ID, format))
		f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"format":"`+format+`"}}`)
		if f.State != "ready" || f.types() != original.types() || s.read(t, f.ID, "") != want {
			t.Errorf("%s: %+v", format, f)
		}
		if f, r := s.refreshed(t, f.ID); *r.Outcome != "unchanged" || f.Version != 1 {
			t.Errorf("%s again: %+v", format, r)
		}
	}
	shop := newShop(t, `<feed><title>x</title><entry><id>1</id><at>2026-11-15</at></entry><entry><id>2</id></entry></feed>`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"format":"xml","path":"/feed/entry"}}`)
	if f.State != "ready" || f.types() != "id integer, at date" || s.read(t, f.ID, "") != "{\"id\":1,\"at\":\"2026-11-15\"}\n{\"id\":2,\"at\":null}\n" {
		t.Errorf("XML: %+v", f)
	}
}

// TestWorkbooksAreReadBack holds that a workbook which the service writes has what it was made of, as
// far as workbooks have such types.
func TestWorkbooksAreReadBack(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	original := s.upload(t, "", "application/x-ndjson", `{"text":"007","integer":12,"decimal":-0.25,"boolean":true,"date":"2026-11-15","timestamp":"2026-11-15T12:30:00Z"}
{"text":"a, \"b\"\n=1+1","integer":null,"decimal":100.50,"boolean":null,"date":null,"timestamp":null}
`)
	data := s.export(t, original.ID, "xlsx")
	const mediaType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	again := s.upload(t, "", mediaType, data)
	want := strings.NewReplacer("100.50", "100.50").Replace(s.read(t, original.ID, ""))
	if again.types() != original.types() || s.read(t, again.ID, "") != want {
		t.Errorf("it is read as %s:\n%s\nwant %s:\n%s", again.types(), s.read(t, again.ID, ""), original.types(), want)
	}
	got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&sheet=9", mediaType, data)
	if got.status != 400 || !strings.Contains(got.body, `"parameter":"sheet"`) || !strings.Contains(got.body, "the sheets of the workbook: 1 ") {
		t.Errorf("another sheet: %d %s", got.status, got.body)
	}
	part := s.upload(t, "&path=A1:B2", mediaType, data)
	if part.types() != "text text, integer integer" || part.RowCount != 1 {
		t.Errorf("a part is %s", part.types())
	}
}

// TestWorkbooksInXML has workbooks of Excel 2003, which are XML documents and read as spreadsheets: what was set for a sheet stays
// set, also where the media type is that of any document.
func TestWorkbooksInXML(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	book := func(first, second string) string {
		row := func(kind, value string) string {
			return `<Row><Cell><Data ss:Type="` + kind + `">` + value + `</Data></Cell></Row>`
		}
		return `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">` +
			`<Worksheet ss:Name="One"><Table>` + row("String", "a") + row("Number", first) + `</Table></Worksheet>` +
			`<Worksheet ss:Name="Two"><Table>` + row("String", "b") + row("Number", second) + `</Table></Worksheet></Workbook>`
	}
	one, two := s.upload(t, "", "application/xml", book("1", "2")), s.upload(t, "&sheet=2", "application/xml", book("1", "2"))
	if one.types() != "a integer" || two.types() != "b integer" || s.read(t, two.ID, "") != "{\"b\":2}\n" {
		t.Errorf("the sheets are %s and %s", one.types(), two.types())
	}
	if !strings.Contains(string(two.Source), `"sheets":[{"index":1,"name":"One","hidden":false},{"index":2,"name":"Two","hidden":false}]`) {
		t.Errorf("the reading is %s", two.Source)
	}
	for feed, want := range map[string]string{one.ID: "{\"a\":3}\n", two.ID: "{\"b\":4}\n"} {
		if got := s.sendData(t, "PUT", "/data_feeds/"+feed+"/data", "application/xml", book("3", "4")); got.status != 200 || s.read(t, feed, "") != want {
			t.Errorf("the next data: %d %s", got.status, got.body)
		}
	}
	for query, data := range map[string]string{"&sheet=1": "<l><r><a>1</a></r><r><a>2</a></r></l>", "&sheet=3": book("1", "2")} {
		got := s.sendData(t, "POST", "/data_feeds?type=dataUpload"+query, "application/xml", data)
		if got.status != 400 || !strings.Contains(got.body, `"parameter":"sheet"`) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	shop := newShop(t, book("5", "6"))
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"format":"xml","sheet":2}}`)
	if f.State != "ready" || s.read(t, f.ID, "") != "{\"b\":6}\n" {
		t.Errorf("a source: %+v", f)
	}
}

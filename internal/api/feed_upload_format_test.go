package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/api/openapi"
	"github.com/feedmill/feedmill/internal/decode"
)

// What is wrong with the format of an upload is said where it is wrong.
func TestUploadFormatRefusals(t *testing.T) {
	s := newTestServer(new(strings.Builder))
	const names = "csv, tsv, json, ndjson, xlsx, xlsm, xlsb, xls, ods, xml, parquet or arrow"
	for _, test := range []struct {
		query, contentType string
		status             int
		want               []string
	}{
		{"&format=parquet&path=$", "text/csv", 400, []string{"path applies only to JSON, XML and spreadsheets, not to parquet."}},
		{"&format=pdf", "text/csv", 400, []string{"format must be " + names + "."}},
		{"&format=", "text/csv", 400, []string{"format must be " + names + "."}},
		{"&types=all&path=&explode=", "application/json", 400, []string{"types must be auto or text.", "path must not be empty. Omit the parameter instead.", "explode must not be empty. Omit the parameter instead."}},
		{"&path=$.a", "text/csv", 400, []string{"path applies only to JSON, XML and spreadsheets, not to csv."}},
		{"&path=$.a&explode=b", "text/tab-separated-values", 400, []string{"path applies only to JSON, XML and spreadsheets, not to tsv.", "explode applies only to JSON and XML, not to tsv."}},
		{"&format=csv&explode=b", "application/json", 400, []string{"explode applies only to JSON and XML, not to csv."}},
		{"&sheet=2", "application/geo+json", 400, []string{"sheet applies only to spreadsheets, not to json."}},
		{"&footer=none&table=0", "text/csv", 400, []string{"footer must be keep or drop.", "table must be a number from 1 to 100, or all."}},
		{"&footer=keep", "application/json", 400, []string{"footer does not apply to json."}},
		{"", "application/octet-stream", 400, []string{"format is required with application/octet-stream: set it to " + names + "."}},
		{"", "application/pdf", 415, []string{`Content-Type "application/pdf" is not supported.`}},
		{"", "text/csv; charset=klingon", 415, []string{`Content-Type "text/csv; charset=klingon" is not supported.`}},
		{"", "application/json; charset=klingon", 415, []string{`Content-Type "application/json; charset=klingon" is not supported.`}},
	} {
		a := ask(s, "POST", "/data_feeds?type=dataUpload"+test.query, "x", "Content-Type", test.contentType)
		var problem struct{ Errors []struct{ Detail string } }
		if err := json.Unmarshal(a.Body.Bytes(), &problem); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range problem.Errors {
			got = append(got, e.Detail)
		}
		if a.Code != test.status || !slices.Equal(got, test.want) {
			t.Errorf("%q as %s: %d %q, want %d %q", test.query, test.contentType, a.Code, got, test.status, test.want)
		}
		const accepted = "text/csv, text/tab-separated-values, application/json, application/x-ndjson, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, application/vnd.ms-excel.sheet.macroenabled.12, application/vnd.ms-excel.sheet.binary.macroenabled.12, application/vnd.ms-excel, application/vnd.oasis.opendocument.spreadsheet, application/xml, application/vnd.apache.parquet, application/vnd.apache.arrow.stream, application/zip, application/gzip, application/zstd, multipart/form-data, application/octet-stream"
		if post := a.Header().Get("Accept-Post"); a.Code == http.StatusUnsupportedMediaType && post != accepted {
			t.Errorf("Accept-Post: %s", post)
		}
	}
}

// The document has the formats of the table, and takes what they are sent as.
func TestDocumentHasTheFormats(t *testing.T) {
	type schema struct {
		Enum       []string
		Properties map[string]struct{ Enum []string }
	}
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct{ Content map[string]any }
		}
		Components struct {
			Parameters map[string]struct{ Schema schema }
			Schemas    map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		t.Fatal(err)
	}
	property := func(name string) []string {
		var s schema
		if err := json.Unmarshal(doc.Components.Schemas[name], &s); err != nil {
			t.Fatal(err)
		}
		return s.Properties["format"].Enum
	}
	readable := decode.Formats().Readable()
	if got := doc.Components.Parameters["uploadFormat"].Schema.Enum; !slices.Equal(got, readable.Names()) {
		t.Errorf("the parameter format is one of %q", got)
	}
	if got := property("UploadSource"); !slices.Equal(got, readable.Names()) {
		t.Errorf("the format of an upload is one of %q", got)
	}
	if got := property("RestResponse"); !slices.Equal(got, append([]string{"auto"}, decode.PageFormats().Readable().Names()...)) {
		t.Errorf("the format of an answer is one of %q", got)
	}
	for _, path := range []string{"/data_feeds", "/data_feeds/preview"} {
		for _, format := range readable {
			if doc.Paths[path]["post"].RequestBody.Content[format.MediaTypes[0]] == nil {
				t.Errorf("POST %s takes no %s", path, format.MediaTypes[0])
			}
		}
	}
}

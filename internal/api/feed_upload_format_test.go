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
		{"&format=parquet&path=$", "text/csv", 400, []string{"Data in parquet has no paths; this is for JSON, XML and spreadsheets."}},
		{"&format=pdf", "text/csv", 400, []string{"This must be " + names + "."}},
		{"&format=", "text/csv", 400, []string{"This must be " + names + "."}},
		{"&types=all&path=&explode=", "application/json", 400, []string{"This must be auto or text.", "This must not be empty; leave it out where there is none.", "This must not be empty; leave it out where there is none."}},
		{"&path=$.a", "text/csv", 400, []string{"Data in csv has no paths; this is for JSON, XML and spreadsheets."}},
		{"&path=$.a&explode=b", "text/tab-separated-values", 400, []string{"Data in tsv has no paths; this is for JSON, XML and spreadsheets.", "Data in tsv has no paths; this is for JSON and XML."}},
		{"&format=csv&explode=b", "application/json", 400, []string{"Data in csv has no paths; this is for JSON and XML."}},
		{"&sheet=2", "application/geo+json", 400, []string{"Data in json has no sheets."}},
		{"&footer=none&table=0", "text/csv", 400, []string{"footer must be keep or drop.", "table must be a number from 1 to 100, or all."}},
		{"&footer=keep", "application/json", 400, []string{"Data in json does not take this."}},
		{"", "application/octet-stream", 400, []string{"This is required with application/octet-stream: " + names + "."}},
		{"", "application/pdf", 415, []string{`Data of the type "application/pdf" is not taken here.`}},
		{"", "text/csv; charset=klingon", 415, []string{`Data of the type "text/csv; charset=klingon" is not taken here.`}},
		{"", "application/json; charset=klingon", 415, []string{`Data of the type "application/json; charset=klingon" is not taken here.`}},
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

package rest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// What is said of a page that is no data names the formats that there are.
func TestReadableFormatsAreNamed(t *testing.T) {
	for _, name := range pageFormats.Readable().Names() {
		if !strings.Contains(strings.ToUpper(readable), strings.ToUpper(name)) {
			t.Errorf("%q does not name %s", readable, name)
		}
	}
}

// What is said of a spreadsheet reaches whoever reads it: a range is no JSONPath, and
// a sheet that nobody named does not contradict a table that lies in another.
func TestSpreadsheetsAreReadAsSaid(t *testing.T) {
	for response, want := range map[string]feedmill.Reading{
		`{"format":"xlsx","path":"B3:H200","sheet":2}`: {Format: "xlsx", Path: "B3:H200", Sheet: 2},
		`{"format":"ods","path":"Orders"}`:             {Format: "ods", Path: "Orders"},
		`{"sheet":3}`:                                  {Sheet: 3},
		`{"format":"ods","sheet":1}`:                   {Format: "ods", Sheet: 1},
	} {
		d, err := Parse([]byte(`{"request":{"url":"https://a.test/"},"response":`+response+`}`), 0)
		if err != nil {
			t.Errorf("%s: %v", response, err)
			continue
		}
		got, err := d.Spec.reading(d.Response, new(Cursor), feedmill.Fetch{}, feedmill.Feed{}, nil)
		if err != nil || !reflect.DeepEqual(got.Reading, want) {
			t.Errorf("%s: %+v, %v; want %+v", response, got.Reading, err, want)
		}
	}
}

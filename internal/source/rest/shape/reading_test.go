package shape

import (
	"reflect"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// What is said of a spreadsheet reaches whoever reads it: a range is no JSONPath, and
// a sheet that nobody named does not contradict a table that lies in another.
func TestSpreadsheetsAreReadAsSaid(t *testing.T) {
	for response, want := range map[string]feedmill.Reading{
		`{"format":"xlsx","path":"B3:H200","sheet":2}`: {Format: "xlsx", Path: "B3:H200", Sheet: 2},
		`{"format":"ods","path":"Orders"}`:             {Format: "ods", Path: "Orders"},
		`{"sheet":3}`:                                  {Sheet: 3},
		`{"format":"ods","sheet":1}`:                   {Format: "ods", Sheet: 1},
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://a.test/"},"response":`+response+`}`), 0)
		if err != nil {
			t.Errorf("%s: %v", response, err)
			continue
		}
		got, err := Reading(d.Spec, d.Response, new(spec.Cursor), feedmill.Fetch{}, feedmill.Feed{}, nil)
		if err != nil || !reflect.DeepEqual(got.Reading, want) {
			t.Errorf("%s: %+v, %v; want %+v", response, got.Reading, err, want)
		}
	}
}

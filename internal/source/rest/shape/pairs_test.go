package shape

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Points of series become rows, with the labels of the series beside the values.
func TestPairs(t *testing.T) {
	for _, test := range []struct{ name, response, page, want, failure string }{
		{
			"Prometheus, a range", `"path":"$.data.result[*]","explode":{"path":"values","as":["time","value"]}`,
			`{"status":"success","data":{"result":[{"metric":{"job":"a"},"values":[[1435781430.781,"1"],[1435781445,"NaN"]]},{"metric":{"job":"b","le":"5"},"values":[[1435781430.781,"0"]]}]}}`,
			`{"metric":{"job":"a"},"time":1435781430.781,"value":"1"} {"metric":{"job":"a"},"time":1435781445,"value":"NaN"} {"metric":{"job":"b","le":"5"},"time":1435781430.781,"value":"0"}`, "",
		},
		{
			"Prometheus, an instant", `"path":"$.data.result[*]","explode":{"path":"$.value","as":["time","value"]}`,
			`{"data":{"result":[{"metric":{"job":"a"},"value":[1435781451.781,"1"]}]}}`, `{"metric":{"job":"a"},"time":1435781451.781,"value":"1"}`, "",
		},
		{
			"Datadog", `"path":"$.series[*]","explode":{"path":"$.pointlist[*]","as":["time","value"]}`,
			`{"series":[{"pointlist":[[1575317847000,0.5],[1575317906000,null]],"scope":"host:a","unit":[{"name":"x"},null]}]}`,
			`{"scope":"host:a","unit":[{"name":"x"},null],"time":1575317847000,"value":0.5} {"scope":"host:a","unit":[{"name":"x"},null],"time":1575317906000,"value":null}`, "",
		},
		{
			"below an object, short, long and none", `"path":"$[*]","explode":{"path":"$.d.p","as":["t","v"]}`,
			`[{"d":{"p":[[1],[1,2,3]],"k":1},"t":"mine"},{"d":{"p":[],"k":2}},{"d":{"k":3}},{"d":{"p":null}}]`,
			`{"d":{"k":1},"t":1,"v":null} {"d":{"k":1},"t":1,"v":2,"column_3":3} {"d":{"k":2},"t":null,"v":null} {"d":{"k":3},"t":null,"v":null} {"d":{},"t":null,"v":null}`, "",
		},
		{"objects", `"path":"$[*]","explode":{"path":"p","as":["t"]}`, `[{"p":[{"a":1}]}]`, "", "column"},
		{"no array", `"path":"$[*]","explode":{"path":"p","as":["t"]}`, `[{"p":"x"}]`, "", "column"},
		{"arrays and others", `"path":"$[*]","explode":{"path":"p","as":["t"]}`, `[{"p":[[1],2]}]`, "", "column"},
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"response":{`+test.response+`}}`), 0)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		r, err := newReshaper(d.Response, false, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		body := io.NewSectionReader(strings.NewReader(test.page), 0, int64(len(test.page)))
		err = r.page(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: body}, &got)
		if text := strings.Join(strings.Fields(got.String()), " "); failureOf(err) != test.failure || err == nil && text != test.want {
			t.Errorf("%s: %s, %v", test.name, got.String(), err)
		}
		if warned := len(r.notes()) > 0; err == nil && warned != strings.Contains(test.want, "column_3") {
			t.Errorf("%s: %+v", test.name, r.notes())
		}
	}
}

func TestPairsThatCannotBe(t *testing.T) {
	for response, pointer := range map[string]string{
		`{"explode":{"path":"p"}}`:                             "/response/explode/as",
		`{"explode":{"as":["a"]}}`:                             "/response/explode/path",
		`{"explode":{"path":"p","as":[]}}`:                     "/response/explode/as",
		`{"explode":{"path":"p","as":["a","a"]}}`:              "/response/explode/as/1",
		`{"explode":{"path":"p","as":["a",""]}}`:               "/response/explode/as/1",
		`{"explode":{"path":"$.p[0]","as":["a"]}}`:             "/response/explode/path",
		`{"explode":{"path":"$[*]","as":["a"]}}`:               "/response/explode/path",
		`{"explode":{"path":"p","as":["a"],"to":1}}`:           "/response/explode/to",
		`{"format":"csv","explode":{"path":"p","as":["a"]}}`:   "/response/explode",
		`{"path":"/feed/x","explode":{"path":"p","as":["a"]}}`: "/response/explode",
		`{"explode":["p"]}`:                                    "/response/explode",
	} {
		_, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"response":`+response+`}`), 0)
		refusal, _ := errors.AsType[*feedmill.Error](err)
		if refusal == nil || len(refusal.Faults) != 1 || refusal.Faults[0].Pointer != pointer {
			t.Errorf("%s: %+v", response, refusal)
		}
	}
}

package shape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Rows are made of records as columns, names, values and keyAs say.
func TestReshape(t *testing.T) {
	for _, test := range []struct{ name, definition, page, want, failure string }{
		{
			"picked, renamed and typed", `"response":{"path":"$.results[*]"},"columns":[{"name":"Title","path":"$.properties.Name.title[0].plain_text","type":"text"},{"name":"n","path":"$.number","type":"integer"}],"otherColumns":"drop"`,
			`{"results":[{"id":1,"number":"12","properties":{"Name":{"title":[{"plain_text":"A"}]}}},{"id":2,"number":null,"properties":{"Name":{"title":[]}}}]}`,
			`{"Title":"A","n":12} {"Title":null,"n":null}`, "",
		},
		{
			"the others kept", `"columns":[{"name":"when","path":"$.at"},{"name":"who","path":"$.user.name"}]`,
			`[{"at":"2026-01-01","user":{"name":"ada"},"tags":[1,{"a":2}]}]`, `{"when":"2026-01-01","who":"ada","user":{"name":"ada"},"tags":[1,{"a":2}]}`, "",
		},
		{
			"times as the API writes them", `"columns":[{"name":"at","path":"$.at","type":"timestamp","format":"unix"},{"name":"ms","path":"$.ms","type":"timestamp","format":"unixMs"},{"name":"day","path":"$.day","type":"date","format":"YYYYMMDD"}]`,
			`[{"at":1700000000,"ms":"1700000000123","day":"20260131"},{"at":null}]`,
			`{"at":"2023-11-14T22:13:20Z","ms":"2023-11-14T22:13:20.123Z","day":"2026-01-31"} {"at":null,"ms":null,"day":null}`, "",
		},
		{
			"numbers of seconds", `"columns":[{"name":"at","path":"$.at","type":"timestamp","format":"unix"}]`,
			`[{"at":1.7672256E9},{"at":1767225600.25},{"at":"1.7672256e9"},{"at":-1}]`,
			`{"at":"2026-01-01T00:00:00Z"} {"at":"2026-01-01T00:00:00.25Z"} {"at":"2026-01-01T00:00:00Z"} {"at":"1969-12-31T23:59:59Z"}`, "",
		},
		{"a number too large for a time", `"columns":[{"name":"at","path":"$.at","type":"timestamp","format":"unix"}]`, `[{"at":1e999999}]`, "", "column"},
		{
			"texts that mean null", `"response":{"nulls":"N/A,-"},"columns":[{"name":"n","path":"$.n","type":"integer"},{"name":"d","path":"$.d","type":"date","format":"YYYYMMDD"},{"name":"t","path":"$.t","type":"text"}]`,
			`[{"n":"N/A","d":"-","t":"-"},{"n":"7","d":"20260131","t":"x"}]`, `{"n":null,"d":null,"t":"-"} {"n":7,"d":"2026-01-31","t":"x"}`, "",
		},
		{"a text that does not", `"response":{"nulls":"-"},"columns":[{"name":"n","path":"$.n","type":"integer"}]`, `[{"n":"N/A"}]`, "", "column"},
		{"texts under the first rules", `"rules":1,"response":{"nulls":"-"},"columns":[{"name":"n","path":"$.n","type":"integer"}]`, `[{"n":"-"}]`, "", "column"},
		{
			"a time that is not written so", `"columns":[{"name":"day","path":"$.day","type":"date","format":"YYYYMMDD"}]`, `[{"day":"2026-01-31"}]`, "", "column",
		},
		{
			"a value that does not fit", `"columns":[{"name":"n","path":"$.n","type":"integer"}]`, `[{"n":"12.5"}]`, "", "column",
		},
		{
			"names of the document and values of the record", `"response":{"path":"$.rows[*]","names":["$.dimensionHeaders[*].name","$.metricHeaders[*].name"],"values":["$.dimensionValues[*].value","$.metricValues[*].value"]}`,
			`{"dimensionHeaders":[{"name":"date"}],"metricHeaders":[{"name":"users"}],"rows":[{"dimensionValues":[{"value":"20260101"}],"metricValues":[{"value":"5"}]}]}`,
			`{"date":"20260101","users":"5"}`, "",
		},
		{
			"columns of what was zipped", `"response":{"path":"$.rows[*]","names":["$.h[*]"],"values":["$.v[*]"]},"columns":[{"name":"day","path":"$.date","type":"date","format":"YYYYMMDD"},{"name":"users","path":"$.users","type":"integer"},{"name":"kind","path":"$.kind"}]`,
			`{"h":["date","users","rate"],"rows":[{"kind":"x","v":["20260101","5","0.5"]},{"v":["20260102","6"]}]}`,
			`{"day":"2026-01-01","users":5,"rate":"0.5","kind":"x"} {"day":"2026-01-02","users":6,"kind":null}`, "",
		},
		{
			"names that one list lacks", `"response":{"path":"$.rows[*]","names":["$.d[*]","$.m[*]"],"values":["$.dv[*]","$.mv[*]"]}`,
			`{"m":["users"],"rows":[{"dv":["20260101"],"mv":[5]}]}`, `{"column_2":"20260101","users":5}`, "",
		},
		{
			"values that one record lacks", `"response":{"path":"$.rows[*]","names":["$.d[*]","$.m[*]"],"values":["$.dv[*]","$.mv[*]"]}`,
			`{"d":["date","land"],"m":["users"],"rows":[{"dv":["20260101"],"mv":[5]}]}`, `{"date":"20260101","users":5}`, "",
		},
		{
			"zipped and dropped", `"response":{"path":"$.rows[*]","names":["$.h[*]"],"values":["$.v[*]"]},"columns":[{"name":"day","path":"$.date"}],"otherColumns":"drop"`,
			`{"h":["date","users"],"rows":[{"v":["20260101","5"]}]}`, `{"day":"20260101"}`, "",
		},
		{"members of a list", `"response":{"path":"$.rates[*]","keyAs":"day"}`, `{"rates":[{"USD":1.1}]}`, "", "column"},
		{
			"times as .NET writes them", `"columns":[{"name":"at","path":"$.at","type":"timestamp"},{"name":"day","path":"$.day","type":"date"}]`,
			`[{"at":"\/Date(1439434356790+0000)\/","day":"/Date(1704067200000)/"}]`, `{"at":"2015-08-13T02:52:36.79Z","day":"2024-01-01"}`, "",
		},
		{
			"arrays of arrays", `"response":{"path":"$.values[1:]","names":["$.values[0][*]"],"values":["$[*]"]}`,
			`{"range":"A1:B3","values":[["a","b"],["1","2"],["3"]]}`, `{"a":"1","b":"2"} {"a":"3"}`, "",
		},
		{
			"members", `"response":{"path":"$.rates.*","keyAs":"day"}`, `{"rates":{"2026-01-02":{"USD":1.1},"2026-01-03":{"USD":1.2}}}`,
			`{"day":"2026-01-02","USD":1.1} {"day":"2026-01-03","USD":1.2}`, "",
		},
		{
			"where the records are found", `"columns":[{"name":"n","path":"$.id"}]`,
			`{"errors":[{"code":1}],"meta":{"tags":[{"a":1}]},"data":{"items":[{"id":1,"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},{"id":2,"x":"b"}]}}`,
			`{"n":1,"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"} {"n":2,"x":"b"}`, "",
		},
		{
			"a table in another shape", `"columns":[{"name":"n","path":"$.id"}]`, `{"columns":["id","x"],"data":[[1,"a"],[2,"b"]]}`, `{"n":1,"x":"a"} {"n":2,"x":"b"}`, "",
		},
		{
			"an object of objects", `"response":{"keyAs":"who"}`, `{"ada":{"n":1},"max":{"n":2}}`, `{"who":"ada","n":1} {"who":"max","n":2}`, "",
		},
		{
			"names that stand twice", `"response":{"path":"$.r[*]","names":["$.h[*]"],"values":["$[*]"]}`, `{"h":["a","a","",null],"r":[[1,2,3,4,5]]}`,
			`{"a":1,"a_2":2,"column_3":3,"column_4":4,"column_5":5}`, "",
		},
		{
			"what spans lines", `"columns":[{"name":"n","path":"$.n"}]`, "[{\"n\":{\n\"a\":[\n1]},\"m\":1,\"m\":2}]", `{"n":{"a":[1]},"m":1,"m":2}`, "",
		},
		{"no JSON", `"columns":[{"name":"n","path":"$.n"}]`, `[{"n":tru}]`, "", "column"},
		{
			"members that are values", `"response":{"path":"$.rates.*","keyAs":"currency"}`, `{"rates":{"USD":1.1}}`, `{"currency":"USD","value":1.1}`, "",
		},
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},`+test.definition+`}`), 0)
		if err != nil {
			t.Errorf("%s: %v", test.name, err.(*feedmill.Error).Faults)
			continue
		}
		body := io.NewSectionReader(bytes.NewReader([]byte(test.page)), 0, int64(len(test.page)))
		r, err := newReshaper(d.Response, false, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		err = r.page(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: body}, &got)
		if text := strings.Join(strings.Fields(strings.ReplaceAll(got.String(), " ", "_")), " "); failureOf(err) != test.failure || err == nil && text != test.want {
			t.Errorf("%s: %s, %v", test.name, got.String(), err)
		}
	}
}

// A column whose path finds nothing in any record is told of.
func TestNothingFound(t *testing.T) {
	d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"columns":[{"name":"n","path":"$.n"},{"name":"who","path":"$.user.nmae"}]}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReshaper(d.Response, false, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{`[{"n":1,"user":{"name":"ada"}}]`, `[{"user":{"name":"max"}},{"n":null}]`} {
		body := io.NewSectionReader(strings.NewReader(page), 0, int64(len(page)))
		if err := r.page(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: body}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if notes := r.notes(); len(notes) != 1 || notes[0].Column != "who" || notes[0].Count != 3 || !strings.Contains(notes[0].Detail, "$.user.nmae") {
		t.Errorf("%+v", notes)
	}
}

// What rows have of their names and parents is bounded by the page that they are of.
func TestReshapedRowsAreBounded(t *testing.T) {
	r, err := newReshaper(spec.Response{Shape: &spec.Shape{Keep: true}}, false, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	page := "[" + strings.Repeat("0,", 100_000) + "0]"
	with := []feedmill.PageColumn{{Name: "x.y", JSON: []byte(`"` + strings.Repeat("a", 2000) + `"`)}}
	body := io.NewSectionReader(strings.NewReader(page), 0, int64(len(page)))
	if err := r.page(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: body, With: with}, io.Discard); failureOf(err) != "data-too-large" {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.page(cancelled, feedmill.FetchedPage{Number: 1, Format: "json", Body: body}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What has no place in the columns that the definition gives is told of.
func TestReshapeNotes(t *testing.T) {
	for definition, want := range map[string]string{
		`"columns":[{"name":"b","path":"$.a"}]`:                                "renamed-column b 2",
		`"columns":[{"name":"b","path":"$.b.c"}]`:                              "",
		`"columns":[{"name":"a","path":"$.b.c"},{"name":"x","path":"$.a"}]`:    "",
		`"response":{"path":"$[*]","names":["$[0].n[*]"],"values":["$.v[*]"]}`: "long-rows  1",
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},`+definition+`}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newReshaper(d.Response, false, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		const page = `[{"a":1,"b":{"c":1},"n":["x"],"v":[1]},{"a":2,"b":{"c":2},"v":[1,2]}]`
		if err := r.page(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: io.NewSectionReader(strings.NewReader(page), 0, int64(len(page)))}, io.Discard); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, note := range r.notes() {
			got += fmt.Sprintf("%s %s %d", note.Code, note.Column, note.Count)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", definition, got, want)
		}
	}
}

// A first page that lacks what holds the records is refused, and a later one is told of.
func TestLackingPages(t *testing.T) {
	l := lacking{response: spec.Response{Path: "$.data[*]"}}
	page := func(number int, text string) feedmill.FetchedPage {
		return feedmill.FetchedPage{Number: number, First: number == 1, Format: "json", Body: io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))}
	}
	if err := l.page(page(1, `{"error":"busy"}`), ""); failureOf(err) != "missing-path" {
		t.Error(err)
	}
	for number, text := range []string{`{"data":[]}`, `{"data":null}`} {
		if err := l.page(page(number+1, text), ""); err != nil || len(l.notes()) > 0 {
			t.Error(text, err, l.notes())
		}
	}
	if err := l.page(page(3, `{"error":"busy"}`), ""); err != nil {
		t.Error(err)
	}
	if notes := l.notes(); len(notes) != 1 || notes[0].Count != 1 || !strings.Contains(notes[0].Detail, "Page 3") || !strings.Contains(notes[0].Detail, "$.data[*]") {
		t.Errorf("%+v", notes)
	}
	found := lacking{}
	for number, text := range []string{`{"error":"busy"}`, `{"rows":[]}`, `{"error":"busy"}`} {
		at := "$.rows[*]"
		if number == 0 {
			at = "" // Nothing was found yet.
		}
		if err := found.page(page(number+1, text), at); err != nil {
			t.Error(err)
		}
	}
	if notes := found.notes(); len(notes) != 1 || notes[0].Count != 1 || !strings.Contains(notes[0].Detail, "Page 3 has nothing at $.rows[*]") {
		t.Errorf("%+v", notes)
	}
}

// Names that stand on the first page only are those of the pages after it, and of no other list.
func TestNamesOfTheFirstPage(t *testing.T) {
	for rules, want := range map[string]string{
		"2": `{"a":1,"m":2} {"a":3,"m":4} {"b":5,"m":6} {"column_1":7,"column_2":8}`,
		"1": `{"a":1,"m":2} {"column_1":3,"column_2":4} {"b":5,"m":6} {"column_1":7,"column_2":8}`,
	} {
		d, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"rules":`+rules+`,"response":{"path":"$.rows[*]","names":["$.d[*]","$.m[*]"],"values":["$.d[*]","$.m[*]"]}}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newReshaper(d.Response, true, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i, text := range []string{
			`{"d":["a"],"m":["m"],"rows":[{"d":[1],"m":[2]}]}`, `{"rows":[{"d":[3],"m":[4]}]}`,
			`{"d":["b"],"m":["m"],"rows":[{"d":[5],"m":[6]}]}`, `{"rows":[{"d":[7],"m":[8]}]}`,
		} {
			body := io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))
			if err := r.page(t.Context(), feedmill.FetchedPage{Number: i + 1, First: i == 0 || i == 3, Format: "json", Body: body}, &got); err != nil {
				t.Fatal(err)
			}
		}
		if text := strings.Join(strings.Fields(got.String()), " "); text != want {
			t.Errorf("rules %s: %s", rules, text)
		}
	}
}

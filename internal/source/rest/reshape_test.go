package rest

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
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
			"arrays of arrays", `"response":{"path":"$.values[1:]","names":["$.values[0][*]"],"values":["$[*]"]}`,
			`{"range":"A1:B3","values":[["a","b"],["1","2"],["3"]]}`, `{"a":"1","b":"2"} {"a":"3"}`, "",
		},
		{
			"members", `"response":{"path":"$.rates.*","keyAs":"day"}`, `{"rates":{"2026-01-02":{"USD":1.1},"2026-01-03":{"USD":1.2}}}`,
			`{"day":"2026-01-02","USD":1.1} {"day":"2026-01-03","USD":1.2}`, "",
		},
		{
			"members that are values", `"response":{"path":"$.rates.*","keyAs":"currency"}`, `{"rates":{"USD":1.1}}`, `{"currency":"USD","value":1.1}`, "",
		},
	} {
		d, err := Parse([]byte(`{"request":{"url":"https://api.test/"},`+test.definition+`}`), 0)
		if err != nil {
			t.Errorf("%s: %v", test.name, err.(*feedmill.Error).Faults)
			continue
		}
		body := io.NewSectionReader(bytes.NewReader([]byte(test.page)), 0, int64(len(test.page)))
		got, err := d.Response.reshape(t.Context(), feedmill.FetchedPage{Number: 1, Format: "json", Body: body}, nil)
		if text := strings.Join(strings.Fields(strings.ReplaceAll(string(got), " ", "_")), " "); failureOf(err) != test.failure || err == nil && text != test.want {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
}

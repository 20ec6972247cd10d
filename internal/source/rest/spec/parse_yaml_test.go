package spec

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// A definition means the same in YAML, and is refused for the same reasons.
func TestDefinitionInYAML(t *testing.T) {
	for _, test := range []struct{ yaml, json string }{
		{`
# What the shop sold.
name: Orders
request:
  url: https://api.test/orders
  headers: {X-Key: SECRET, Accept: text/csv}
  query:
    since: 2024-01-31
    pages: 5
pagination: {kind: page, size: 100, sizeParam: limit}
schedule:
  every: 15m
key: [id]
`, `{"name":"Orders","request":{"url":"https://api.test/orders","headers":{"X-Key":"SECRET","Accept":"text/csv"},"query":{"since":"2024-01-31","pages":5}},
	"pagination":{"kind":"page","size":100,"sizeParam":"limit"},"schedule":{"every":"15m"},"key":["id"]}`},
		{`
request: {url: 5, hedaers: {}}
retry: {maxAttempts: many}
schedule: hourly
`, `{"request":{"url":5,"hedaers":{}},"retry":{"maxAttempts":"many"},"schedule":"hourly"}`},
	} {
		found := newReading(feedmill.RulesCurrent)
		doc, ok := strictjson.ReadYAML([]byte(test.yaml), found.faults.Note)
		if !ok {
			t.Fatal(found.faults)
		}
		got, r := readDefinition(doc, feedmill.RulesCurrent, 0, false)
		want, err := Parse([]byte(test.json), 0)
		var wanted []feedmill.Fault
		if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
			wanted = refusal.Faults
		}
		r.refusal() // brings the faults into order
		if diff := cmp.Diff(wanted, r.faults.List); diff != "" {
			t.Error(diff)
		}
		if string(got.Public()) != string(want.Public()) || string(got.Secrets()) != string(want.Secrets()) || got.Name != want.Name {
			t.Errorf("%s\nwant %s", got.Public(), want.Public())
		}
	}
}

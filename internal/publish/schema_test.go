package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestSchemas(t *testing.T) {
	f := newFixture(
		t,
		feedmill.EventType{Name: "order.paid", Schema: []byte(`{"type":"object","required":["total"],"properties":{"total":{"type":"number"},"lines":{"type":"array","items":{"type":"string"}}}}`)},
		feedmill.EventType{Name: "order.sent", Schema: []byte(`{"type":"object"}`)},
		feedmill.EventType{Name: "order.lost"},
	)
	schemas, err := NewSchemas(f.Catalogue)
	if err != nil {
		t.Fatal(err)
	}
	f.Schemas = schemas
	for _, c := range []struct{ name, data, want string }{
		{"order.paid", `{"total":1}`, ""},
		{"order.paid", `{"total":"1","lines":["a",2]}`, "/0/data/lines/1 /0/data/total"},
		{"order.paid", `{"lines":[9,8,7,"6",5,4,3,2,1,0,1]}`, "/0/data /0/data/lines/0 /0/data/lines/1 /0/data/lines/10 /0/data/lines/2 /0/data/lines/4 /0/data/lines/5 /0/data/lines/6 /0/data/lines/7 /0/data/lines/8 /0/data/lines/9"},
		{"order.paid", `{}`, "/0/data"},
		{"order.paid", ``, "/0/data"},
		{"order.paid", `[]`, "/0/data"},
		{"order.paid", `{"total":12345678901234567890.125}`, ""},
		{"order.sent", ``, ""},
		{"order.sent", `[]`, "/0/data"},
		{"order.lost", `[]`, ""},
	} {
		event := feedmill.NewEvent{Type: c.name, Data: []byte(c.data)}
		if c.want == "" {
			if _, err := f.Publish(t.Context(), f.ws, []feedmill.NewEvent{event}, nil); err != nil {
				t.Errorf("%s %s: %v", c.name, c.data, err)
			}
			continue
		}
		refusal := f.refusalOf(t, event)
		if got := pointers(refusal); got != c.want || refusal.Type != "schema-mismatch" {
			t.Errorf("%s %s: faults at %q, want %q: %v", c.name, c.data, got, c.want, refusal)
		}
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{
		`{"$ref":"http://127.0.0.1:1/other.json"}`, `{"$ref":"file://` + other + `"}`, // nothing is fetched
		`{"type":"nothing"}`,
	} {
		c, err := feedmill.NewCatalogue([]feedmill.EventType{{Name: "order.paid", Schema: []byte(schema)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSchemas(c); err == nil || !strings.Contains(err.Error(), "order.paid") {
			t.Errorf("%s: error is %v", schema, err)
		}
	}
}

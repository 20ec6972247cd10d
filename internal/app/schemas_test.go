package app

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/feedmill/feedmill/internal/api/openapi"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// TestSchemas holds what comes with the program to the schemas that editors check
// such files with.
func TestSchemas(t *testing.T) {
	t.Parallel()
	manifests := map[string]string{}
	files, err := filepath.Glob("../source/manifest/builtin/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests[filepath.Base(file)] = string(data)
	}
	for _, group := range []struct {
		schema string
		files  map[string]string
		wrong  string
	}{
		{"ServiceManifest", manifests, "service: x\nbaseUrl: https://x\nviews: {v: {fields: {f: {type: int}}}}"},
		{"RestFeed", recipes(t), "request: {url: 7}"},
	} {
		schema := compiled(t, group.schema)
		group.files = maps.Clone(group.files)
		group.files["(wrong)"] = group.wrong
		for name, text := range group.files {
			var value any
			if err := yaml.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(name, err)
			}
			asJSON, err := json.Marshal(value)
			if err != nil {
				t.Fatal(name, err)
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
			if err != nil {
				t.Fatal(name, err)
			}
			if err := schema.Validate(document); (err != nil) != (name == "(wrong)") {
				t.Errorf("%s against %s: %v", name, group.schema, err)
			}
		}
	}
}

// compiled is a schema that documents can be held to.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.Schema(name, "")))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The schema of a REST feed refuses what the server does, as far as a schema can say it,
// and takes what the server takes. A definition is told by what it has beside the URL.
func TestRestSchemaRefusesWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	schema := compiled(t, "RestFeed")
	check := func(definition string, want bool) {
		t.Helper()
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(definition))
		if err != nil {
			t.Fatal(definition, err)
		}
		_, refusal := spec.Parse([]byte(definition), 0)
		if taken := schema.Validate(document) == nil; taken != want || (refusal == nil) != want {
			t.Errorf("%s: taken by the schema: %v, by the server: %v", definition, taken, refusal)
		}
	}
	for _, url := range []string{"ftp://a.test/", "/x", "https://me:pass@a.test/", "https://{{today}}.test/", "https://a.test/#x", "https://", ""} {
		check(`{"request":{"url":"`+url+`"}}`, false)
	}
	for _, url := range []string{"https://a.test", "http://a.test:80?x={{today-7d}}", "https://a.test/@me/{{now|unix}}", "https://[::1]:8080/x"} {
		check(`{"request":{"url":"`+url+`"}}`, true)
	}
	within := func(field string, want bool, values ...string) {
		t.Helper()
		for _, value := range values {
			check(`{"request":{"url":"https://a.test/?n={{n.id}}"},"each":{"in":{"values":[{"id":1}]},"as":"n"},"`+field+`":`+value+`}`, want)
		}
	}
	for _, values := range []struct {
		field string
		wrong []string
		right []string
	}{
		{
			"response",
			[]string{`{"path":"data"}`, `{"path":""}`, `{"format":"json","path":"data"}`, `{"format":"csv","path":"$.a"}`, `{"format":"csv","sheet":1}`, `{"format":"csv","explode":"b"}`, `{"format":"xlsx","explode":"b"}`, `{"format":"xlsx","path":""}`, `{"names":["$.a"]}`, `{"format":"csv","keyAs":"k"}`, `{"sheet":0}`},
			[]string{`{"path":"$.data[*]"}`, `{"path":"/feed/entry"}`, `{"format":"xlsx","path":"B:H","sheet":2}`, `{"sheet":1}`, `{"format":"xml","path":"/a/b","explode":"c"}`, `{"explode":"a.b[*]"}`, `{"format":"csv","header":2}`},
		},
		{
			"pagination",
			[]string{`{"kind":"cursor"}`, `{"kind":"cursor","path":"$.n"}`, `{"kind":"cursor","path":"n","param":"p"}`, `{"kind":"nextUrl"}`, `{"kind":"nextUrl","path":"$.n","param":"x"}`, `{"kind":"nextUrl","path":"$.n","size":1}`, `{"kind":"page","sizeParam":"n"}`, `{"kind":"offset","start":1}`, `{"kind":"linkHeader","path":"$.n"}`, `{"kind":"none","more":"$.m"}`, `{"kind":"page","total":"count"}`, `{"kind":"page","total":{"header":""}}`},
			[]string{`{"kind":"page"}`, `{"kind":"page","param":"p","start":0,"size":2,"sizeParam":"n","totalPages":{"header":"X"}}`, `{"kind":"offset","size":100}`, `{"kind":"cursor","path":"$.n","param":"p","more":"$.m"}`, `{"kind":"linkHeader","maxPages":5}`, `{"kind":"none"}`},
		},
		{
			"incremental",
			[]string{`{}`, `{"param":{"name":"s"}}`, `{"cursorPath":"a","param":{"name":"s"}}`, `{"step":"1d","param":{"name":"s"}}`, `{"cursorPath":"$.a","param":{"name":"s"},"to":{"name":"u"}}`, `{"cursorPath":"$.a","param":{"name":"s"},"lookback":"an hour"}`, `{"cursorPath":"$.a","param":{"name":""}}`},
			[]string{`{"cursorPath":"$.a","param":{"name":"s"},"lookback":"1h30m"}`, `{"step":"1d","start":"{{today-30d}}","param":{"name":"s"},"to":{"name":"u"},"inclusive":true}`},
		},
		{
			"auth",
			[]string{`{"kind":"basic","username":"a:b","password":"x"}`, `{"kind":"bearer","token":"a\nb"}`, `{"kind":"bearer","token":""}`, `{"kind":"apiKey","name":"","value":"x"}`, `{"kind":"oauth2ClientCredentials","tokenUrl":"id.test","clientId":"a","clientSecret":"b"}`, `{"kind":"login","request":{"url":"https://a.test/"}}`, `{"kind":"login","request":{"url":"https://a.test/"},"tokenPath":"$.a","tokenHeader":"b"}`, `{"kind":"login","request":{"url":"https://a.test/"},"tokenPath":"a"}`, `{"kind":"login","request":{"url":"https://a.test/"},"tokenPath":"$.a","header":"a b"}`},
			[]string{`{"kind":"bearer","token":"x"}`, `{"kind":"login","request":{"url":"https://a.test/","body":{"kind":"form","value":{"a":"b"}}},"tokenCookie":"sid"}`},
		},
		{"errors", []string{`[{"action":"fail"}]`, `[{"bodyPath":"error","action":"fail"}]`}, []string{`[{"status":[404],"action":"ignore"},{"bodyPath":"$.error","action":"retry"}]`}},
		{"schedule", []string{`{"every":"often"}`}, []string{`{"every":"1h"}`}},
		{"mode", []string{`"merge"`}, []string{`"append"`, `"merge","key":["id"]`}},
		{"otherColumns", []string{`"drop"`}, []string{`"drop","columns":[{"name":"a","path":"$.a"}]`}},
		{"rateLimit", []string{`{"requests":1,"per":"second"}`}, []string{`{"requests":1,"per":"1s"}`}},
	} {
		within(values.field, false, values.wrong...)
		within(values.field, true, values.right...)
	}
	for _, request := range []string{`"headers":{"Host":"x"}`, `"headers":{"a b":"x"}`, `"headers":{"X":"a\nb"}`, `"query":{"":1}`, `"body":{"kind":"json"}`, `"body":{"kind":"graphql"}`, `"timeout":"soon"`} {
		check(`{"request":{"url":"https://a.test/",`+request+`}}`, false)
	}
	for _, request := range []string{`"headers":{"X":"","Y":1}`, `"query":{"a":[1,"b"]}`, `"body":{"kind":"json","value":null}`, `"body":{"kind":"graphql","query":"{a}"}`, `"body":{"kind":"graphql","value":{"query":"{a}"}}`, `"timeout":"90s"`} {
		check(`{"request":{"url":"https://a.test/",`+request+`}}`, true)
	}
	for _, in := range []string{`{}`, `{"feedId":"x"}`, `{"values":[1],"feedId":"df_1"}`, `{"request":{"url":"https://a.test/"},"path":"data"}`} {
		check(`{"request":{"url":"https://a.test/{{n}}"},"each":{"in":`+in+`,"as":"n"}}`, false)
	}
}

// TestDefinitionSchema holds documents of configuration files to the schema that editors check
// them with.
func TestDefinitionSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.DefinitionSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("definition.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("definition.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		`{kind: Connection, name: shop, connector: postgres, config: {host: h, database: d, user: u, password: {env: PASSWORD}}}`:                                   true,
		`{kind: Connection, name: shop, connector: postgres, config: {host: h, database: d, user: u, pasword: {env: P}}}`:                                           false,
		`{kind: Connection, name: shop, serviceName: warehouse, connector: 7, config: {}}`:                                                                          false,
		`{kind: Feed, name: orders, label: Orders, request: {url: "https://example.com/orders"}, auth: {kind: bearer, token: {keep: true}}, schedule: {every: 1h}}`: true,
		`{kind: Feed, name: orders, request: {uri: "https://example.com/orders"}}`:                                                                                  false,
		`{kind: Feed, name: paid, serviceName: shop, viewName: orders, query: {fields: [{field: status}]}, expectEvery: 1d}`:                                        true,
		`{kind: Feed, name: prices, file: prices.csv}`:                                                                                                              true,
		`{kind: Subscription, name: billing, id: sub_1, url: "https://example.com", events: [metric.created], delivery: {headers: {x-token: {file: token}}}}`:       true,
		`{kind: SQLView, name: paid, label: paid_orders, serviceName: shop, sql: "SELECT 1 AS a"}`:                                                                  true,
		`{kind: SQLView, name: paid, serviceName: shop}`:                                                                                                            false,
		`{kind: Subscription, name: billing, url: "https://example.com", events: metric.created}`:                                                                   false,
		`{kind: Subscription, url: "https://example.com", events: [metric.created]}`:                                                                                false,
		`{kind: Sub, name: billing, url: "https://example.com", events: [metric.created]}`:                                                                          false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(text, err)
		}
		asJSON, err := json.Marshal(value)
		if err != nil {
			t.Fatal(text, err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		if err != nil {
			t.Fatal(text, err)
		}
		if err := schema.Validate(document); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

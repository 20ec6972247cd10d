package manifest

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/strictjson"

	"github.com/feedmill/feedmill"
)

const shop = `service: shop
title: A shop
baseUrl: "{{config.address}}/v1"
config:
  address: {default: "https://shop.example"}
  key: {secret: true}
  team: {required: false}
request: {headers: {X-Team: "{{config.team}}", X-Key: "{{config.key}}"}, query: {limit: "10"}}
pagination: {kind: linkHeader}
views:
  orders:
    request: {path: /orders, query: {sort: id}}
    response: {path: "$.data[*]"}
    key: [id]
    incremental: {field: at}
    fields:
      id: {type: integer}
      state: {filters: {eq: {param: state, values: {paid: P, open: O}, separator: ","}}}
      "ship to": {path: $.address.city}
      at: {type: timestamp, written: unix, filters: {from: {param: since, format: unix}, to: {param: until, format: date}}}
`

func parsed(t *testing.T, text string) *Manifest {
	t.Helper()
	m, faults := Parse([]byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return m
}

func TestParse(t *testing.T) {
	m := parsed(t, shop)
	v, ok := m.View("orders")
	if !ok || m.Service != "shop" || len(m.Settings) != 3 || !m.Settings[1].Secret || m.Settings[0].Required || !m.Settings[1].Required || m.Settings[2].Required {
		t.Fatalf("%+v", m)
	}
	if f := v.Fields[2]; f.Path != "$.address.city" || f.Type != columnar.TypeText || v.Cursor != "at" {
		t.Errorf("%+v", v)
	}
}

// TestDefinition compiles a view: settings are filled in, secrets declared, and what
// needs a setting that is not given is left out.
func TestDefinition(t *testing.T) {
	m := parsed(t, shop)
	v, _ := m.View("orders")
	body, err := m.Definition(v, map[string]string{"key": "s3cret"}, []*Field{&v.Fields[0], &v.Fields[3]}, []Parameter{{In: "query", Name: "since", Value: strictjson.String("7")}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"request":{"headers":{"X-Key":{"secret":"s3cret"}},"query":{"limit":"10","sort":"id","since":"7"},"url":"https://shop.example/v1/orders"},` +
		`"response":{"path":"$.data[*]"},"pagination":{"kind":"linkHeader"},"rules":1,` +
		`"columns":[{"name":"id","path":"$.id","type":"integer"},{"name":"at","path":"$.at","type":"timestamp","format":"unix"}],"otherColumns":"drop"}`
	if string(body) != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

// TestFaults lists everything that is wrong, with its line.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"no YAML", shop, "a: [", "1: Invalid YAML"},
		{"no object", shop, "- a", "1: A manifest must be an object"},
		{"unknown member", "title: A shop", "titel: A shop", "2: /titel: "},
		{"name of the service", "service: shop", "service: The Shop", "1: /service: service must consist of lowercase letters"},
		{"default of a secret", "key: {secret: true}", "key: {secret: true, default: x}", "6: /config/key/default: A secret must not have a default"},
		{"unknown type", "id: {type: integer}", "id: {type: int}", "17: /views/orders/fields/id/type: type must be one of"},
		{"path of a field", "path: $.address.city", "path: address.city", "19: /views/orders/fields/ship to/path: path is not a valid JSONPath"},
		{"key", "key: [id]", "key: [number]", "14: /views/orders/key/0: The view has no field of this name"},
		{"incremental", "field: at}", "field: when}", "15: /views/orders/incremental/field: The view has no field"},
		{"pagination, as REST feeds have it", "kind: linkHeader", "kind: links", "9: /pagination/kind: "},
		{"response of a view", `path: "$.data[*]"`, `path: "data"`, "13: /views/orders/response/path: Not a valid JSONPath"},
		{"token that stands for nothing", "config.team", "config.group", "12: /views/orders: The view cannot be compiled: the manifest of shop has unknown tokens: config.group"},
		{"format of times", "written: unix", "written: epoch", "20: /views/orders/fields/at: "},
		{"bounds of a text", "values: {paid: P, open: O}, separator: \",\"}", "values: [paid]}, from: {param: x}", "18: /views/orders/fields/state/filters/from: from and to apply only to numbers"},
		{"token without a default", "param: since, format: unix", "param: since, in: token", "20: /views/orders/fields/at/filters/from/default: default is required"},
		{"relative address", `default: "https://shop.example"`, `default: "shop"`, "12: /views/orders/request/path: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(shop, test.old, test.new, 1)
			if text == shop {
				t.Fatal("nothing was replaced")
			}
			_, faults := Parse([]byte(text))
			for _, f := range faults {
				if strings.HasPrefix(f.String(), test.want) {
					return
				}
			}
			t.Errorf("want %q, got %v", test.want, faults)
		})
	}
	if _, faults := Parse([]byte(strings.Repeat("# long\n", MaxBytes))); len(faults) != 1 || !strings.Contains(faults[0].Detail, "262144 bytes") {
		t.Error(faults)
	}
}

// All that is wrong is listed at once, whether the manifest or a REST feed has the rule.
func TestAllFaultsAtOnce(t *testing.T) {
	text := strings.NewReplacer("title: A shop", "titel: A shop", "service: shop", "service: The Shop", "id: {type: integer}", "id: {type: int}", "kind: linkHeader", "kind: links",
		`path: "$.data[*]"`, `path: "data"`, "field: at}", "field: when}", "written: unix", "written: epoch").Replace(shop)
	_, faults := Parse([]byte(text))
	var got []string
	for _, f := range faults {
		got = append(got, f.Pointer)
	}
	if want := "/service /titel /pagination/kind /views/orders/response/path /views/orders/incremental/field /views/orders/fields/id/type /views/orders/fields/at"; strings.Join(got, " ") != want {
		t.Errorf("%v\nwant\n%s", faults, want)
	}
}

// A manifest that is wrong anywhere has faults, each of them once.
func TestFaultsAnywhere(t *testing.T) {
	lines := strings.SplitAfter(shop, "\n")
	for i := range lines {
		for _, line := range []string{"", lines[i][:len(lines[i])/2] + "\n", strings.Replace(lines[i], ": ", ": [] #", 1), strings.Replace(lines[i], ": ", ": 7 #", 1), strings.Replace(lines[i], "{", "[", 1)} {
			_, faults := Parse([]byte(strings.Join(lines[:i], "") + line + strings.Join(lines[i+1:], "")))
			seen := map[Fault]bool{}
			for _, f := range faults {
				if seen[f] || f.Line == 0 {
					t.Errorf("%q at line %d: %v", line, i+1, faults)
				}
				seen[f] = true
			}
		}
	}
	_, faults := Parse([]byte(strings.Replace(shop, "title: A shop", "title: A: shop", 1)))
	if len(faults) != 1 || faults[0].Line != 2 {
		t.Errorf("%v", faults)
	}
}

// A file that an earlier release accepted is loaded although this release checks more. A
// manifest with the current rules is checked.
func TestManifestsOfEarlierReleases(t *testing.T) {
	const text = "service: shop\nbaseUrl: https://shop.example\nretry: {maxAttempts: 99}\nviews: {orders: {fields: {id: {type: integer}}}}\n"
	if _, faults := Parse([]byte(text)); len(faults) != 1 || faults[0].Pointer != "/retry/maxAttempts" {
		t.Errorf("parsed: %v", faults)
	}
	m, faults := Load([]byte(text))
	if len(faults) > 0 || m.Rules != feedmill.RulesFirst {
		t.Errorf("loaded: rules %d, %v", m.Rules, faults)
	}
	if _, faults := Load([]byte("rules: 2\n" + text)); len(faults) != 1 {
		t.Errorf("loaded with current rules: %v", faults)
	}
	for _, bad := range []string{"0", "3", "x"} {
		if _, faults := Load([]byte("rules: " + bad + "\n" + text)); len(faults) == 0 || faults[0].Pointer != "/rules" {
			t.Errorf("rules %s: %v", bad, faults)
		}
	}
}

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// mutation makes something wrong in a body. It returns where the fault is, or
// false where the body has no place for it.
type mutation struct {
	name string
	// always says that the result is wrong whatever the schema: it is a fault
	// of the JSON itself.
	always bool
	apply  func(t *rapid.T, d *draft) (place string, ok bool)
}

// GoString names the mutation in the output of a failed check.
func (m mutation) GoString() string { return m.name }

// node is a place in a JSON value.
type node struct {
	pointer string
	value   any
	set     func(any)
}

// GoString names the place in the output of a failed check.
func (n node) GoString() string { return strconv.Quote(n.pointer) }

// nodes lists every place of a value, the value itself first.
func nodes(pointer string, value any, set func(any)) []node {
	all := []node{{pointer, value, set}}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, nodes(pointer+"/"+escapePointer(name), v[name], func(x any) { v[name] = x })...)
		}
	case []any:
		for i := range v {
			all = append(all, nodes(pointer+"/"+strconv.Itoa(i), v[i], func(x any) { v[i] = x })...)
		}
	}
	return all
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// nodes lists the places of a draft's body, which is first made a copy of.
func (d *draft) nodes() []node {
	d.body = clone(d.body)
	return nodes("", d.body, func(x any) { d.body = x })
}

func clone(v any) (copied any) {
	if err := json.Unmarshal([]byte(toJSON(v)), &copied); err != nil {
		panic(err)
	}
	return copied
}

// pick draws one of the places with a value of type T, or false.
func pick[T any](t *rapid.T, d *draft) (n node, value T, ok bool) {
	var fitting []node
	for _, n := range d.nodes() {
		if _, ok := n.value.(T); ok {
			fitting = append(fitting, n)
		}
	}
	if len(fitting) == 0 {
		return n, value, false
	}
	n = rapid.SampledFrom(fitting).Draw(t, "place")
	return n, n.value.(T), true
}

// marker stands in a body for a raw text that replaces it.
const marker = "@@marker@@"

// splice puts a text that is no JSON value where the node is.
func (d *draft) splice(n node, raw string) {
	n.set(marker)
	d.raw = string(bytes.Replace([]byte(toJSON(d.body)), []byte(`"`+marker+`"`), []byte(raw), 1))
}

const unknownName = "noSuchField"

var mutations = []mutation{
	{name: "a field is missing", apply: func(t *rapid.T, d *draft) (string, bool) {
		n, object, ok := pick[map[string]any](t, d)
		if !ok || len(object) == 0 {
			return "", false
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(object))).Draw(t, "field")
		delete(object, name)
		return n.pointer + "/" + escapePointer(name), true
	}},
	{name: "an unknown field", apply: func(t *rapid.T, d *draft) (string, bool) {
		n, object, ok := pick[map[string]any](t, d)
		if ok {
			object[unknownName] = rapid.SampledFrom([]any{nil, 1.0, "x", []any{}}).Draw(t, "value")
		}
		return n.pointer + "/" + unknownName, ok
	}},
	{name: "a wrong type", apply: func(t *rapid.T, d *draft) (string, bool) {
		n := rapid.SampledFrom(d.nodes()).Draw(t, "place")
		others := slices.DeleteFunc([]any{nil, true, 17.5, "text", []any{}, map[string]any{}}, func(v any) bool {
			return fmt.Sprintf("%T", v) == fmt.Sprintf("%T", n.value)
		})
		n.set(rapid.SampledFrom(others).Draw(t, "instead"))
		return n.pointer, true
	}},
	{name: "a wrong text", apply: func(t *rapid.T, d *draft) (string, bool) {
		n, _, ok := pick[string](t, d)
		if ok {
			n.set(rapid.SampledFrom([]string{"", " ", "no such thing", strings.Repeat("long", 3000), "\x00"}).Draw(t, "text"))
		}
		return n.pointer, ok
	}},
	{name: "a wrong number", apply: func(t *rapid.T, d *draft) (string, bool) {
		n, _, ok := pick[float64](t, d)
		if ok {
			n.set(rapid.SampledFrom([]float64{-1, 0, 0.5, 1e12, -1e300}).Draw(t, "number"))
		}
		return n.pointer, ok
	}},
	{name: "a wrong length", apply: func(t *rapid.T, d *draft) (string, bool) {
		n, list, ok := pick[[]any](t, d)
		if !ok || len(list) == 0 {
			return "", false
		}
		n.set([]any{})
		if rapid.Bool().Draw(t, "long") {
			n.set(slices.Repeat(list, 2000))
		}
		return n.pointer, true
	}},
	{name: "a key twice", always: true, apply: func(t *rapid.T, d *draft) (string, bool) {
		n, object, ok := pick[map[string]any](t, d)
		if !ok || len(object) == 0 {
			return "", false
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(object))).Draw(t, "field")
		text := toJSON(object)
		d.splice(n, "{"+toJSON(name)+":"+toJSON(object[name])+","+text[1:])
		return n.pointer + "/" + escapePointer(name), true
	}},
	{name: "invalid UTF-8", always: true, apply: func(t *rapid.T, d *draft) (string, bool) {
		n, _, ok := pick[string](t, d)
		if ok {
			d.splice(n, rapid.SampledFrom([]string{"\"a\xffb\"", "\"\xc0\xaf\"", `"\ud800"`, `"\udc00x"`}).Draw(t, "bytes"))
		}
		return n.pointer, ok
	}},
}

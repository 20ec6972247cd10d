package jsonpath

import "testing"

func TestSteps(t *testing.T) {
	for path, want := range map[string]int{
		"$":                         0,
		"$.data.items[*]":           3,
		"$['a b'][0][2:10:3].*":     4,
		"$[?@.a == 1]":              1,
		"$.a[?@.b[?@.c]]":           2,
		"$..a":                      -1,
		"$['a','b']":                -1,
		"$[-1]":                     -1,
		"$[-1:]":                    -1,
		"$[:-1]":                    -1,
		"$[::-1]":                   -1,
		"$[?@.a].b":                 -1,
		"$[?@.a == $.b]":            -1,
		"$[?@.a[?@.b < $.c]]":       -1,
		"$[?count($.a) == 1]":       -1,
		"$[?!(match(@.a, $.b))]":    -1,
		"$[?@.a || @.b && !$.c]":    -1,
		"$[?length(value($.a))==1]": -1,
	} {
		p, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		if steps, ok := p.Steps(); ok {
			got = len(steps)
		}
		if got != want {
			t.Errorf("%s: %d steps, want %d", path, got, want)
		}
	}
}

// TestStepsSelectWhatThePathDoes holds each kind of step against the
// evaluation of the same path over a tree.
func TestStepsSelectWhatThePathDoes(t *testing.T) {
	const array, object = `[0,1,2,3,4,5,6,7,8,9]`, `{"a":0,"b":1,"":2}`
	for _, path := range []string{"$[*]", "$[3]", "$[10]", "$[2:]", "$[:4]", "$[1:9:3]", "$[::0]", "$[5:2]", "$.a", "$.c", "$['']"} {
		p, err := Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		steps, ok := p.Steps()
		if !ok || len(steps) != 1 {
			t.Fatalf("%s: no steps", path)
		}
		var got int
		for i := range int64(10) {
			if steps[0].Element(i) {
				got++
			}
		}
		if want := len(selected(t, path, array)); got != want {
			t.Errorf("%s selects %d elements, want %d", path, got, want)
		}
		got = 0
		for _, name := range []string{"a", "b", ""} {
			if steps[0].Member([]byte(name)) {
				got++
			}
		}
		if want := len(selected(t, path, object)); got != want {
			t.Errorf("%s selects %d members, want %d", path, got, want)
		}
	}
}

func TestStepAccepts(t *testing.T) {
	p, err := Parse("$[?@.a > 1]")
	if err != nil {
		t.Fatal(err)
	}
	steps, _ := p.Steps()
	for document, want := range map[string]bool{`{"a":2}`: true, `{"a":1}`: false, `3`: false} {
		if got, err := steps[0].Accepts(NewWork(t.Context(), 0), readTree(t, document)); got != want || err != nil {
			t.Errorf("%s: %v %v, want %v", document, got, err, want)
		}
	}
	if !steps[0].Filters() || !steps[0].Element(7) || !steps[0].Member([]byte("x")) {
		t.Error("a filter decides by the value alone")
	}
}

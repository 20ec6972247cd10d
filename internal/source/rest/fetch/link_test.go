package fetch

import (
	"strings"
	"testing"
)

func TestNextLink(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string
	}{
		{nil, ""},
		{[]string{`<https://a.test/2>; rel="next"`}, "https://a.test/2"},
		{[]string{`</1>; rel="prev", </3>; rel="next"; title="a, b"`}, "/3"},
		{[]string{`</1>; rel=prev`, `</3>;rel=next`}, "/3"},
		{[]string{`</1>; title="rel=\"next\", <x>", </3>; REL="last Next"`}, "/3"},
		{[]string{`</a,b>; rel=next`}, "/a,b"},
		{[]string{`</1>; rel=prev; rel=next`}, ""},
		{[]string{`</1>; rel`, `<`, `x`, `</1>;;;rel=next`}, "/1"},
		{[]string{`</1>; anchor="#x"; rel=next`}, "/1"},
	} {
		if got := nextLink(test.values); got != test.want {
			t.Errorf("%q: %q, want %q", test.values, got, test.want)
		}
	}
}

func FuzzNextLink(f *testing.F) {
	f.Add(`</1>; rel="prev", </3>; rel="next"; title="a, \"b"`)
	f.Add(`<x>;rel=next,;=`)
	f.Fuzz(func(t *testing.T, value string) {
		if got := nextLink([]string{value}); got != "" && !strings.Contains(value, got) {
			t.Fatalf("%q is not in %q", got, value)
		}
	})
}

package api

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
)

// inQuotes is a text as CSV quotes it.
func inQuotes(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// TestFilterIsReadAsWritten holds that any name and any values can be written.
func TestFilterIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringN(1, 20, -1).Draw(t, "field")
		values := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "values")
		inverted := rapid.Bool().Draw(t, "inverted")
		text := inQuotes(field) + ":eq:"
		if inverted {
			text = "!" + text
		}
		var quoted []string
		for _, v := range values {
			quoted = append(quoted, inQuotes(v))
		}
		got, err := parseFilter(text + strings.Join(quoted, ","))
		if err != nil {
			t.Fatal(err)
		}
		var read []string
		for _, v := range got.Filters[0].Values {
			if v.Null {
				t.Fatal("a quoted value is null")
			}
			read = append(read, v.Text)
		}
		if got.Name != field || got.Filters[0].Op != feedmill.OpEq || got.Filters[0].Inverted != inverted || !slices.Equal(read, values) {
			t.Fatalf("read as %+v", got)
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"a:eq:1", `!"a:b":between:1,"2"`, "a:isNull", `"a`, `"a"b:eq:`, ":", "!", "a:b:c:d", ",,,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseFilter(text); err == nil && (c.Name == "" || len(c.Filters) != 1 || !strings.Contains(text, ":")) {
			t.Errorf("%q is read as %+v", text, c)
		}
		items, err := parseList(text, "-")
		if err == nil && len(items) == 0 {
			t.Errorf("%q has no items", text)
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{`attachment; filename="a/b.csv"`, `attachment; filename*=UTF-8''%e2%82%ac`, `x; filename*=iso-8859-1''%E4;x`, "", ";"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if name := fileName(header); strings.ContainsAny(name, `/\`) || name == ".." {
			t.Errorf("%q names %q", header, name)
		}
	})
}

func TestAcceptedTypes(t *testing.T) {
	for accept, want := range map[string]string{
		"text/csv":                               "text/csv",
		"text/csv;q=0.1, application/json":       "application/json text/csv",
		"text/csv;q=0, */*;q=0.1":                "*/*",
		"text/csv;q=x, ;;, application/json;v=1": "application/json",
	} {
		if got := strings.Join(acceptedTypes(accept), " "); got != want {
			t.Errorf("%q wants %q, not %q", accept, got, want)
		}
	}
}

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
		got, err := feedmill.ParseFilter(text + strings.Join(quoted, ","))
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
		if c, err := feedmill.ParseFilter(text); err == nil && (c.Name == "" || len(c.Filters) != 1 || !strings.Contains(text, ":")) {
			t.Errorf("%q is read as %+v", text, c)
		}
		items, err := feedmill.ParseList(text, "-")
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

func TestAcceptedFormat(t *testing.T) {
	const workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	for accept, want := range map[string]string{
		"*/*":                                    "json",
		"application/*":                          "json",
		"text/*":                                 "csv",
		workbook:                                 "xlsx",
		"text/csv, application/json":             "csv",
		"application/json, text/plain, */*":      "json",
		"text/csv, */*":                          "csv",
		"text/csv;q=0.1, */*;q=0.1":              "csv",
		"text/html, */*;q=0.8":                   "json",
		"*/*, application/json;q=0":              "ndjson",
		"*/*;q=0.8, application/json;q=0.1":      "ndjson",
		"application/json;q=0.2, text/csv;q=0.3": "csv",
		"application/*;q=0, " + workbook:         "xlsx",
		"application/jsonl":                      "ndjson",
		"APPLICATION/JSON":                       "json",
		"text/csv;q=NaN":                         "",
		"image/png":                              "",
		"application/json;q=0":                   "",
		"":                                       "",
	} {
		if f, ok := acceptedFormat(accept); f.name != want || ok != (want != "") {
			t.Errorf("%q wants %q, not %q", accept, f.name, want)
		}
	}
}

func TestAttachment(t *testing.T) {
	for name, want := range map[string]string{
		"orders.CSV":    "attachment; filename=orders.xlsx",
		"Sales 1.5":     `attachment; filename="Sales 1.5.xlsx"`,
		"Q3 vs. plan":   `attachment; filename="Q3 vs. plan.xlsx"`,
		".csv":          "attachment; filename=.csv.xlsx",
		`a/b\c.parquet`: "attachment; filename=a-b-c.xlsx",
		"Orders €.json": "attachment; filename*=utf-8''Orders%20%E2%82%AC.xlsx",
	} {
		if got := attachment(name, ".xlsx"); got != want {
			t.Errorf("%q is saved as %s, want %s", name, got, want)
		}
	}
}

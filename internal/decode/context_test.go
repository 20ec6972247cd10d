package decode

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// TestContext has the values around the records, as columns and as what a warning names.
func TestContext(t *testing.T) {
	with := Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Context: "true"}}
	for _, test := range []struct {
		name, format, data string
		path               string
		columns            string // with context=true
		names              string // in the warning without it
	}{
		{"beside the records", "json", `{"total":2,"at":"x\ny","items":[{"a":1},{"a":2}],"ok":true,"none":null}`, "", "_context.total|_context.at|_context.ok|_context.none|a 2|x\ny|||1 2|x\ny|||2", "total, at, ok, none"},
		{"on the way to them", "json", `{"v":1,"data":{"page":3,"items":[{"a":1}],"list":[1,2]},"z":9}`, "", "_context.v|_context.data.page|_context.z|a 1|3|9|1", "v, data.page, z"},
		{"in objects beside them", "json", `{"meta":{"by":{"name":"n"}},"items":[{"a":1}]}`, "", "_context.meta.by.name|a n|1", "meta.by.name"},
		{"a path", "json", `{"v":1,"big":[{"b":1},{"b":2}],"small":[{"a":1}]}`, "$.small[*]", "_context.v|a 1|1", "v"},
		{"lists of lists", "json", `{"v":1,"groups":[{"g":1,"items":[{"a":1}]}]}`, "$.groups[*].items[*]", "_context.v|a 1|1", "v"},
		{"the last of a name", "json", `{"v":1,"items":[{"a":1}],"v":2}`, "", "_context.v|a 2|1", "v"},
		{"a name of the records", "json", `{"v":1,"items":[{"_context":{"v":7},"_context.v":8}]}`, "", "_context.v|_context.v|_context.v 1|7|8", "v"},
		{"records by key", "json", `{"base":"EUR","rates":{"USD":{"r":1},"CHF":{"r":2}},"on":"d"}`, "$.rates[*]", "_context.base|_context.on|_key|r EUR|d|USD|1 EUR|d|CHF|2", "base, on"},
		{"a root array", "json", `[{"a":1}]`, "", "a 1", ""},
		{"one record", "json", `{"a":1,"b":2}`, "", "a|b 1|2", ""},
		{"lines", "ndjson", "{\"a\":1}\n{\"a\":2}\n", "", "a 1 2", ""},
		{"XML", "xml", `<feed v="1"><title>t</title><link h="1"/><link h="2"/><meta><by>n</by></meta><e><a>1</a></e><e><a>2</a></e></feed>`, "", "a|_context.@v|_context.title|_context.meta.by 1|1|t|n 2|1|t|n", "@v, title, meta.by"},
		{"a path of XML", "xml", `<r><v>1</v><o><x>1</x></o><o><x>2</x></o><l><p><a>1</a></p></l></r>`, "/r/l/p", "a|_context.v 1|1", "v"},
		{"groups of XML", "xml", `<r><v>1</v><g><n>1</n><p><a>1</a></p><p><a>2</a></p></g><g><n>2</n><p><a>3</a></p></g></r>`, "/r/g/p", "a|_context.v 1|1 2|1 3|1", "v"},
	} {
		o := with
		o.Path = test.path
		rows, warnings := readAll(t, test.format, test.data, o)
		if got := strings.Join(rows, " "); got != test.columns || strings.Contains(fmt.Sprint(warnings), "context") {
			t.Errorf("%s is %q with %q, want %q", test.name, got, warnings, test.columns)
		}
		for _, rules := range []feedmill.Rules{1, 2} {
			names := contextNames(t, test.format, test.data, Options{Rules: rules, Path: test.path})
			if want := map[feedmill.Rules]string{2: test.names}[rules]; names != want {
				t.Errorf("%s leaves %q out by rules %d, want %q", test.name, names, rules, want)
			}
		}
		// What was read before was read with the same words.
		before := feedmill.Findings{Path: feedmill.Finding{Value: "$", By: feedmill.BySet}}
		if names := contextNames(t, test.format, test.data, Options{Rules: 2, Path: test.path, Before: before}); names != "" {
			t.Errorf("%s leaves %q out of later data", test.name, names)
		}
	}
	if names := contextNames(t, "json", `{"next":"x","m":{"more":true},"v":1,"items":[{"a":1}]}`, Options{Rules: 2, Paginated: []string{"$.next", "$.m.more"}}); names != "v" {
		t.Errorf("beside what pagination uses %q is left out", names)
	}
	if rows, _ := readAll(t, "json", `{"v":1,"items":[{"a":1}]}`, Options{Rules: 2, Path: "$..items[*]", ReadingOptions: with.ReadingOptions}); !strings.Contains(rows[0], "context") && !strings.Contains(rows[0], "path") {
		t.Errorf("a path that is followed in memory gives %q", rows)
	}
}

// contextNames are the names that the warning about values around the records lists.
func contextNames(t *testing.T, format, data string, o Options) string {
	t.Helper()
	o.Temp = t.TempDir()
	table, err := Open(t.Context(), format, bytes.NewReader([]byte(data)), o)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if err := table.Each(t.Context(), 1, func(*columnar.Cells) error { return nil }); err != nil {
		t.Fatal(err)
	}
	warnings, err := table.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if w.Code == feedmill.WarnContext {
			names, _, _ := strings.Cut(strings.TrimPrefix(w.Detail, "Values around the records were left out: "), ". Set")
			return names
		}
	}
	return ""
}

// TestContextLimits has more around the records than becomes columns.
func TestContextLimits(t *testing.T) {
	var many strings.Builder
	for i := range input.MaxContext + 5 {
		fmt.Fprintf(&many, `"v%d":%d,`, i, i)
	}
	for name, data := range map[string]string{
		"many":  "{" + many.String() + `"items":[{"a":1}]}`,
		"large": `{"v":"` + strings.Repeat("x", input.MaxContextBytes+1) + `","items":[{"a":1}],"w":1}`,
	} {
		rows, warnings := readAll(t, "json", data, Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Context: "true"}})
		columns := strings.Count(rows[0], input.ContextPrefix)
		if want := map[string]int{"many": input.MaxContext, "large": 1}[name]; columns != want || len(warnings) != 1 || !strings.HasPrefix(warnings[0], feedmill.WarnContext) {
			t.Errorf("%s: %d columns and %q, want %d columns and a warning", name, columns, warnings, want)
		}
	}
}

// TestContextOfPages has pages whose surroundings differ.
func TestContextOfPages(t *testing.T) {
	for format, pages := range map[string][]string{
		"json": {`{"p":1,"items":[{"a":1},{"a":2}]}`, `{"items":[{"a":3,"b":4}],"p":2,"q":5}`, `{"items":[{"a":6}]}`},
		"xml":  {`<r><p>1</p><i><a>1</a></i><i><a>2</a></i></r>`, `<r><i><a>3</a><b>4</b></i><i/><p>2</p><q>5</q></r>`},
	} {
		var rows []string
		p := NewPages(Options{Rules: 2, List: true, Temp: t.TempDir(), ReadingOptions: feedmill.ReadingOptions{Context: "true"}}, func(*columnar.Cells) error { return nil })
		for _, page := range pages {
			if _, err := p.Add(t.Context(), format, strings.NewReader(page)); err != nil {
				t.Fatal(err)
			}
		}
		names := p.Names()
		err := p.Read(t.Context(), 0, p.Blocks(), func(c *columnar.Cells) error {
			for row := range c.Rows {
				var cells []string
				for column := range c.Columns {
					if text := string(c.Text(c.At(row, column))); text != "" {
						cells = append(cells, names[column]+"="+text)
					}
				}
				rows = append(rows, strings.Join(cells, ","))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"json": "_context.p=1,a=1 _context.p=1,a=2 _context.p=2,a=3,_context.q=5,b=4 a=6",
			"xml":  "a=1,_context.p=1 a=2,_context.p=1 a=3,_context.p=2,b=4,_context.q=5 _context.p=2,_context.q=5",
		}[format]
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%s is %q, want %q", format, got, want)
		}
		p.Close()
	}
}

// TestSideRecords has lists beside the records, which are named.
func TestSideRecords(t *testing.T) {
	for format, data := range map[string]string{
		"json": `{"data":[{"id":1,"x":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}],"included":[{"id":9}],"errors":[{"m":"e"}]}`,
		"xml":  `<r><o><id>1</id><x>yyyyyyyyyyyyyy</x></o><o><id>2</id></o><links><link><h>1</h></link><link><h>2</h></link></links></r>`,
	} {
		for _, rules := range []feedmill.Rules{1, 2} {
			table, err := Open(t.Context(), format, strings.NewReader(data), Options{Rules: rules, Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := table.Warnings()
			if err != nil {
				t.Fatal(err)
			}
			detail := ""
			for _, w := range warnings {
				if w.Code == feedmill.WarnRecords {
					detail = w.Detail
				}
			}
			for _, path := range map[string][]string{"json": {"$.included[*]", "$.errors[*]"}, "xml": {"/r/links/link"}}[format] {
				if strings.Contains(detail, path) != (rules == 2) {
					t.Errorf("%s by rules %d: %q and %s", format, rules, detail, path)
				}
			}
			table.Close()
		}
	}
}

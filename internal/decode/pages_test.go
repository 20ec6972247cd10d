package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// pagesTable is what was read of pages: what each page gave as it came, and all
// of them after the last.
type pagesTable struct {
	names    []string
	rows     []string
	counts   []int64
	warnings []string
	watched  []string
}

// readPages adds pages and holds what they gave as they came against what they
// give when they are read again.
func readPages(t testing.TB, format string, options Options, pages ...string) (pagesTable, error) {
	t.Helper()
	var out pagesTable
	var mu sync.Mutex
	given := map[int64][]string{}
	options.Temp = t.TempDir()
	p := NewPages(options, func(cells *columnar.Cells) error {
		mu.Lock()
		defer mu.Unlock()
		for row := range cells.Rows {
			texts := make([]string, cells.Columns)
			for column := range texts {
				texts[column] = decodetest.CellText(cells, cells.At(row, column))
			}
			given[cells.First+int64(row)] = texts
		}
		return nil
	})
	defer p.Close()
	p.Watch("id", func(text []byte) { out.watched = append(out.watched, string(text)) })
	for _, page := range pages {
		rows, err := p.Add(t.Context(), format, strings.NewReader(page))
		if err != nil {
			return out, err
		}
		out.counts = append(out.counts, rows)
	}
	slices.Sort(out.watched)
	out.names = p.Names()
	for number, row := range decodetest.Rows(t, p) {
		for len(given[int64(number)]) < len(row) {
			given[int64(number)] = append(given[int64(number)], "∅")
		}
		if !slices.Equal(given[int64(number)], row) {
			t.Fatalf("row %d is %q when it is read again, and was %q", number, row, given[int64(number)])
		}
		out.rows = append(out.rows, strings.Join(row, " "))
	}
	if len(given) != len(out.rows) {
		t.Fatalf("%d rows when they are read again, and were %v", len(out.rows), slices.Sorted(maps.Keys(given)))
	}
	warnings, err := p.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		out.warnings = append(out.warnings, fmt.Sprintf("%s %s %d %d %s", w.Code, w.Column, w.Count, w.FirstRow, w.Detail))
	}
	return out, nil
}

func TestPages(t *testing.T) {
	for _, test := range []struct {
		name    string
		format  string
		options Options
		pages   []string
		want    pagesTable
	}{
		{
			"a list in an object, the last page of which is empty", "json",
			Options{},
			[]string{`{"data":[{"id":1}],"next":2}`, `{"data":[{"id":2,"a":{"b":"x"}},{"id":3}]}`, `{"data":[]}`},
			pagesTable{names: []string{"id", "a.b"}, rows: []string{"1 ∅", "2 x", "3 ∅"}, counts: []int64{1, 2, 0}, watched: []string{"1", "2", "3"}},
		},
		{
			"columns that come late, in another order", "json",
			Options{},
			[]string{`[{"a":"1"}]`, `[]`, `[{"b":"2"},{"b":"3","a":"4"}]`},
			pagesTable{names: []string{"a", "b"}, rows: []string{"1 ∅", "∅ 2", "4 3"}, counts: []int64{1, 0, 2}},
		},
		{
			"what becomes rows is in one page only", "json",
			Options{Explode: "$.l"},
			[]string{`[{"id":1}]`, `[{"id":2,"l":[5,6]}]`, `[{"id":3}]`},
			pagesTable{names: []string{"id", "l"}, rows: []string{"1 ∅", "2 5", "2 6", "3 ∅"}, counts: []int64{1, 2, 1}, watched: []string{"1", "2", "2", "3"}},
		},
		{
			"nothing becomes rows", "json",
			Options{Explode: "$.l"},
			[]string{`[{"id":1}]`, `[]`, `[{"id":2}]`},
			pagesTable{
				names: []string{"id"}, rows: []string{"1", "2"}, counts: []int64{1, 0, 1}, watched: []string{"1", "2"},
				warnings: []string{"nothing-exploded  1 0 No record has a value at l, so explode had no effect and every record is one row. The path in explode starts at the record."},
			},
		},
		{
			"an object is one record, until a page has a list", "json",
			Options{},
			[]string{`{"id":1}`, `{"more":[{"id":2}]}`, `{"id":3}`},
			pagesTable{names: []string{"id"}, rows: []string{"1", "2"}, counts: []int64{1, 1, 0}, watched: []string{"1", "2"}},
		},
		{
			"an array after an object", "json",
			Options{},
			[]string{`{"list":[{"id":1}]}`, `[{"id":2}]`},
			pagesTable{names: []string{"id"}, rows: []string{"1", "2"}, counts: []int64{1, 1}, watched: []string{"1", "2"}},
		},
		{
			"an empty list, and then one that is not", "json",
			Options{List: true},
			[]string{`{"list":[],"total":0}`, `{"list":[{"id":1}]}`},
			pagesTable{names: []string{"id"}, rows: []string{"1"}, counts: []int64{0, 1}, watched: []string{"1"}},
		},
		{
			"an empty list that is the whole answer", "json",
			Options{},
			[]string{`{"list":"none","total":[]}`},
			pagesTable{names: []string{"list", "total"}, rows: []string{"none []"}, counts: []int64{1}},
		},
		{
			"a path that is followed in memory", "json",
			Options{Path: "$..id"},
			[]string{`{"x":{"id":1}}`, `{"y":[{"id":2},{"id":3}]}`, `{}`},
			pagesTable{names: []string{"value"}, rows: []string{"1", "2", "3"}, counts: []int64{1, 2, 0}},
		},
		{
			"a path and exploded records", "json",
			Options{Path: "$.o[*]", Explode: "l"},
			[]string{`{"o":[{"id":1,"l":[{"n":1},{"n":2}]}]}`, `{"o":[{"id":2}]}`},
			pagesTable{names: []string{"id", "l.n"}, rows: []string{"1 1", "1 2", "2 ∅"}, counts: []int64{2, 1}, watched: []string{"1", "1", "2"}},
		},
		{
			"lines", "ndjson",
			Options{},
			[]string{"{\"id\":1}\n{\"id\":2}\n", "\n", "{\"x\":\"y\"}"},
			pagesTable{names: []string{"id", "x"}, rows: []string{"1 ∅", "2 ∅", "∅ y"}, counts: []int64{2, 0, 1}, watched: []string{"1", "2"}},
		},
		{
			"utf-16", "json",
			Options{},
			[]string{`[{"id":"ä"}]`, string(decodetest.InUTF16(binary.LittleEndian, `[{"id":"ö"}]`)), string(decodetest.InUTF16(binary.BigEndian, "\ufeff[{\"id\":\"ü\"}]"))},
			pagesTable{names: []string{"id"}, rows: []string{"ä", "ö", "ü"}, counts: []int64{1, 1, 1}, watched: []string{"ä", "ö", "ü"}},
		},
		{
			"records without members", "json",
			Options{},
			[]string{`[{},{}]`, `[{}]`},
			pagesTable{names: []string{"value"}, rows: []string{"∅", "∅", "∅"}, counts: []int64{2, 1}},
		},
		{
			"no page at all", "json",
			Options{},
			nil,
			pagesTable{warnings: []string{"no-rows  1 0 The data has no records."}},
		},
		{
			"repeated names in two pages", "json",
			Options{},
			[]string{`[{"a":"0"}]`, `[{"a":"1","a":"2"}]`, `[{"a":"3"},{"a":"4","a":"5"}]`},
			pagesTable{
				names: []string{"a"}, rows: []string{"0", "2", "3", "5"}, counts: []int64{1, 1, 2},
				warnings: []string{"duplicate-key a 2 2 page 2: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source."},
			},
		},
		{
			"tables with the same header", "csv",
			Options{},
			[]string{"id;x\n1;a\n2;b\n", "id;x\n3;c\n", "id;x\n", ""},
			pagesTable{names: []string{"id", "x"}, rows: []string{"1 a", "2 b", "3 c"}, counts: []int64{2, 1, 0, 0}, watched: []string{"1", "2", "3"}},
		},
		{
			"tables with their columns in other places", "csv",
			Options{},
			[]string{"id,x\n1,a\n", "x,id\nb,2\n", "y,id\nc,3\n"},
			pagesTable{names: []string{"id", "x", "y"}, rows: []string{"1 a ∅", "2 b ∅", "3 ∅ c"}, counts: []int64{1, 1, 1}, watched: []string{"1", "2", "3"}},
		},
		{
			"a header that is not repeated", "csv",
			Options{},
			[]string{"id,x\nn1,a\nn2,b\n", "n3,c\nn4,d\n", "n5,e\n"},
			pagesTable{names: []string{"id", "x"}, rows: []string{"n1 a", "n2 b", "n3 c", "n4 d", "n5 e"}, counts: []int64{2, 2, 1}, watched: []string{"n1", "n2", "n3", "n4", "n5"}},
		},
		{
			"names that are there twice, and rows that are too long", "csv",
			Options{},
			[]string{"a,a\n1,2\n", "b,a,a\n3,4,5\n6,7,8,9\n"},
			pagesTable{
				names: []string{"a", "a", "b", "_extra_1"}, rows: []string{"1 2 ∅ ∅", "4 5 3 ∅", "7 8 6 9"}, counts: []int64{1, 2},
				warnings: []string{"long-rows  1 3 page 2: Some rows have more than 3 fields; the additional fields are in the columns _extra_1, _extra_2 and so on. Fix the rows or the header at the source."},
			},
		},
		{
			"windows-1252 and tabs", "tsv",
			Options{},
			[]string{"id\tx\n1\tZo\xeb\n", "id\tx\n2\t\xe9\n"},
			pagesTable{
				names: []string{"id", "x"}, rows: []string{"1 Zoë", "2 é"}, counts: []int64{1, 1}, watched: []string{"1", "2"},
				warnings: []string{"assumed-encoding  2 0 page 1: Byte 9 is not UTF-8, so the data was read as windows-1252, the most likely encoding. Set encoding=… to change it."},
			},
		},
		{
			name: "XML whose pages have other columns", format: "xml", options: Options{Path: "/r/o"},
			pages: []string{"<r><o><id>1</id><a>x</a></o><o><id>2</id></o></r>", "<r/>", "<r><o><b>y</b><id>3</id></o></r>"},
			want: pagesTable{
				names: []string{"id", "a", "b"}, rows: []string{"1 x ∅", "2 ∅ ∅", "3 ∅ y"}, counts: []int64{2, 0, 1}, watched: []string{"1", "2", "3"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readPages(t, test.format, test.options, test.pages...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(pagesTable{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPagesRefuse(t *testing.T) {
	for _, test := range []struct {
		name, format string
		options      Options
		pages        []string
		want         string
	}{
		{"a fault in a page", "json", Options{}, []string{"[]", `[{"a":1},]`}, "page 2: the JSON is not valid at line 1, column 10"},
		{"what is no text", "csv", Options{}, []string{"a,b\n1,2\n", "a,b\n1,2\n", "%PDF-1.7"}, "page 3: the data is not text; it starts like a PDF"},
		{"a format that there is not", "pdf", Options{}, []string{"x"}, "page 1: pages must be csv"},
		{"a wrong path of XML", "xml", Options{Path: "$.a"}, []string{"<a/>"}, ""},
		{"a wrong path", "json", Options{Path: "$["}, []string{"[]"}, ""},
		{"a wrong way to explode", "json", Options{Explode: "["}, []string{"[]"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readPages(t, test.format, test.options, test.pages...)
			decodetest.MustRefuse(t, err, test.want)
		})
	}
}

func TestPagesStayRefused(t *testing.T) {
	p := NewPages(Options{}, func(*columnar.Cells) error { return nil })
	if _, err := p.Add(t.Context(), "csv", strings.NewReader("a\n1\n")); err != nil {
		t.Fatal(err)
	}
	_, err := p.Add(t.Context(), "json", strings.NewReader("[1]"))
	decodetest.MustRefuse(t, err, "page 2: the page is json, but the pages before it are csv")
	if _, again := p.Add(t.Context(), "csv", strings.NewReader("a\n1\n")); again != err {
		t.Errorf("a page after the refusal: %v", again)
	}
}

func TestPagesFailWithTheirFunction(t *testing.T) {
	errBroken := errors.New("broken")
	p := NewPages(Options{}, func(*columnar.Cells) error { return errBroken })
	if _, err := p.Add(t.Context(), "json", strings.NewReader("[1]")); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

// However records are cut into pages, they are the records of one document.
func TestPagesAreOneTable(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		record := rapid.Custom(func(t *rapid.T) string {
			var members []string
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"id", "b", "c", "d"}), 1, 4, rapid.ID).Draw(t, "names") {
				members = append(members, fmt.Sprintf("%q:%d", name, rapid.IntRange(0, 99).Draw(t, "value")))
			}
			return "{" + strings.Join(members, ",") + "}"
		})
		records := rapid.SliceOfN(record, 1, 30).Draw(t, "records")
		var pages []string
		for rest := records; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "in the page")
			pages = append(pages, "["+strings.Join(rest[:n], ",")+"]")
			rest = rest[n:]
		}
		got, err := readPages(outer, "json", Options{}, pages...)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Open(outer.Context(), "json", strings.NewReader("["+strings.Join(records, ",")+"]"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, row := range decodetest.Rows(outer, whole) {
			want = append(want, strings.Join(row, " "))
		}
		if !slices.Equal(got.names, whole.Names()) || !slices.Equal(got.rows, want) {
			t.Fatalf("%v\n%v\nwant %v\n%v", got.names, got.rows, whole.Names(), want)
		}
	})
}

// Pages of some size are read by several goroutines, and in parts.
func TestPagesOfManyBlocks(t *testing.T) {
	array := append(append([]byte(`{"data":[`), decodetest.Records(1<<20, ",")...), "]}"...)
	var given sync.Map
	p := NewPages(Options{}, func(cells *columnar.Cells) error {
		for row := range cells.Rows {
			given.Store(cells.First+int64(row), decodetest.CellText(cells, cells.At(row, 0)))
		}
		return nil
	})
	for range 3 {
		if _, err := p.Add(t.Context(), "json", bytes.NewReader(array)); err != nil {
			t.Fatal(err)
		}
	}
	if p.Blocks() < 6 {
		t.Errorf("only %d blocks", p.Blocks())
	}
	next := int64(0)
	for block := 0; block < p.Blocks(); {
		end := min(block+3, p.Blocks())
		err := p.Read(t.Context(), block, end, func(cells *columnar.Cells) error {
			for row := range cells.Rows {
				want, _ := given.Load(next)
				if got := decodetest.CellText(cells, cells.At(row, 0)); cells.First+int64(row) != next || got != want {
					return fmt.Errorf("row %d is %s, want row %d, %s", cells.First+int64(row), got, next, want)
				}
				next++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		block = end
	}
	if next != p.Rows() {
		t.Errorf("%d rows of %d", next, p.Rows())
	}
}

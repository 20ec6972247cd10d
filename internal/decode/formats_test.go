package decode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// A name, a media type and an extension each tell one format.
func TestFormatsAreTold(t *testing.T) {
	told := map[string]string{}
	for _, f := range formats {
		marks := slices.Concat([]string{f.Name}, f.MediaTypes, f.Extensions)
		for _, mark := range marks {
			if before := told[mark]; before != "" || mark != strings.ToLower(mark) {
				t.Errorf("%q is %s and %s", mark, f.Name, before)
			}
			told[mark] = f.Name
		}
		for _, extension := range f.Extensions {
			if !strings.HasPrefix(extension, ".") {
				t.Errorf("files of %s end in %q", f.Name, extension)
			}
		}
		if f.open == nil {
			if f.recognise != nil != (f.openTyped != nil) || f.openArriving != nil || f.family != nil || f.addPage != nil {
				t.Errorf("%s cannot be opened, but in some way", f.Name)
			}
			continue
		}
		if len(f.MediaTypes) == 0 || len(f.Extensions) == 0 || f.recognise == nil {
			t.Errorf("%s cannot be told", f.Name)
		}
		if (f.family == nil) != (f.addPage == nil) {
			t.Errorf("pages in %s have no beginning or no end", f.Name)
		}
	}
}

// Every format that can be opened is opened by its name, in each way that its row
// has.
func TestFormatsOpen(t *testing.T) {
	data := map[string]string{
		"csv": "a,b\n1,2\n3,4\n", "tsv": "a\tb\n1\t2\n3\t4\n",
		"xml":  "<r><o><a>1</a><b>2</b></o><o><a>3</a><b>4</b></o></r>",
		"json": `[{"a":"1","b":"2"},{"a":"3","b":"4"}]`, "ndjson": "{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"3\",\"b\":\"4\"}\n",
	}
	check := func(name string, table decodetest.Table, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rows := decodetest.Rows(t, table); !slices.Equal(table.Names(), []string{"a", "b"}) || len(rows) != 2 || !slices.Equal(rows[1], []string{"3", "4"}) {
			t.Errorf("%s: %q has %q", name, table.Names(), rows)
		}
	}
	for _, f := range Formats() {
		text, ok := data[f.Name]
		elsewhere := IsTyped(f.Name) || slices.Contains([]string{"xlsx", "xlsm", "xlsb", "xls", "ods"}, f.Name)
		if (ok || elsewhere) != f.Readable {
			t.Errorf("%s is readable: %v", f.Name, f.Readable)
		}
		table, err := Open(t.Context(), f.Name, strings.NewReader(text), Options{})
		if !ok {
			if err == nil {
				t.Errorf("%s was opened", f.Name)
			}
			continue
		}
		check(f.Name, table, err)
		if got := Recognise([]byte("\ufeff\n "+text), true); got != f.Name {
			t.Errorf("%s is taken for %q", f.Name, got)
		}
		src := decodetest.NewGrowing(text)
		src.Grow(len(text))
		if table, err := OpenArriving(t.Context(), f.Name, src, Options{}); !errors.Is(err, ErrArriving) {
			check(f.Name+" that arrives", table, err)
		}
		if page, _ := PageFormats().Named(f.Name); page.Readable {
			_, err := readPages(t, f.Name, Options{}, text)
			if err != nil {
				t.Errorf("a page of %s: %v", f.Name, err)
			}
		}
	}
}

func TestRecognise(t *testing.T) {
	for _, test := range []struct {
		head  string
		whole bool
		want  string
	}{
		{"", true, ""},
		{"a,b\n1,2\n", true, "csv"},
		{"a;b", true, "csv"},
		{"a|b", true, "csv"},
		{"one\ntwo\n", true, "csv"},
		{"one", true, ""},
		{"a\tb,c\td\n", true, "tsv"},
		{"a\tb,c", true, "csv"},
		{"\ufeff [1]", true, "json"},
		{"{\"a\":1}", true, "json"},
		{"{\"a\":1}", false, "ndjson"},
		{"{\"a\":1}\n[2]\n", true, "ndjson"},
		{"{\"a\":1} {\"a\":2}\n", true, "json"},
		{"{\"a\":1}\nx", true, "json"},
		{"{\"a\":", false, "json"},
		{"<a,b>\n", true, ""},
		{"<?xml version='1.0'?>\n<a/>", true, "xml"},
		{"<a b='1'>", false, "xml"},
		{"<!doctype html>", false, ""},
		{"a,b\n\x00", true, ""},
		{"[1,\x00", true, ""},
	} {
		if got := Recognise([]byte(test.head), test.whole); got != test.want {
			t.Errorf("%q, all of it: %v, is taken for %q, want %q", test.head, test.whole, got, test.want)
		}
	}
}

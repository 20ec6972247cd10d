package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// plistOf is a property list with the prolog that Apple's tools write.
func plistOf(value string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
` + value + "\n</plist>\n"
}

func TestPropertyLists(t *testing.T) {
	const dicts = `<array>
  <dict><key>Name</key><string>A &amp; "B"</string><key>Active</key><true/><key>Size</key><integer>5</integer><key>Hex</key><integer>0x1F</integer></dict>
  <dict><key>Name</key><string/><key>Active</key><false/><key>Rate</key><real>0.5</real><key>At</key><date>2024-01-05T10:00:00Z</date>
    <key>Raw</key><data>
    aGVs
    bG8=
    </data><key>Tags</key><array><string>x</string><true/></array></dict>
</array>`
	for name, test := range map[string]struct {
		document string
		options  Options
		names    string
		rows     string
		path     string
	}{
		"an array of dicts": {
			plistOf(dicts),
			Options{},
			"Name|Active|Size|Hex|Rate|At|Raw|Tags",
			"A & \"B\"|true|5|0x1F|∅|∅|∅|∅\n|false|∅|∅|0.5|2024-01-05T10:00:00Z|aGVsbG8=|[\"x\",true]", "$[*]",
		},
		"dicts by their keys": {
			plistOf(`<dict><key>Version</key><integer>1</integer><key>Tracks</key><dict><key>7</key><dict><key>Name</key><string>One</string></dict><key>8</key><dict><key>Name</key><string>Two</string></dict></dict></dict>`),
			Options{},
			"_key|Name", "7|One\n8|Two", "$.Tracks[*]",
		},
		"a path of JSON":        {plistOf(`<dict><key>a</key>` + dicts + `</dict>`), Options{Path: "$.a[1]"}, "Name|Active|Rate|At|Raw|Tags", "|false|0.5|2024-01-05T10:00:00Z|aGVsbG8=|[\"x\",true]", "$.a[1]"},
		"a path of XML":         {plistOf(dicts), Options{Path: "/plist/array/dict/true"}, "#text", "true", "/plist/array/dict/true"},
		"one dict":              {plistOf(`<dict><key>a</key><true/><key>b</key><string><![CDATA[x]]>y</string></dict>`), Options{}, "a|b", "true|xy", "$"},
		"a plist of a namesake": {`<r xmlns="urn:plist"><o><a>1</a></o><o><a>2</a></o></r>`, Options{}, "a", "1\n2", "/r/o"},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Temp = t.TempDir()
			table, err := Open(t.Context(), "xml", strings.NewReader(test.document), test.options)
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			var rows []string
			for _, row := range decodetest.Rows(t, table) {
				rows = append(rows, strings.Join(row, "|"))
			}
			if names := strings.Join(table.Names(), "|"); names != test.names || strings.Join(rows, "\n") != test.rows || table.Found().Path.Value != test.path {
				t.Errorf("%s at %s\n%s", names, table.Found().Path.Value, strings.Join(rows, "\n"))
			}
		})
	}
}

func TestBrokenPropertyLists(t *testing.T) {
	for document, want := range map[string]string{
		plistOf(`<dict><true/></dict>`):                                  "line 4, column 7 (byte 170): a value in a dict has no key",
		plistOf(`<dict><key>a</key></dict>`):                             "has no value",
		plistOf(`<dict><key>a</key><key>b</key></dict>`):                 "expected a value, found a key",
		plistOf(`<array><key>b</key></array>`):                           "expected a value, found a key",
		plistOf(`<array>text</array>`):                                   "unexpected text in the property list",
		plistOf(`<string><b/></string>`):                                 "unexpected element in the property list",
		plistOf(`<true/><false/>`):                                       "one value",
		plistOf(`<array><row/></array>`):                                 "row is not an element of a property list",
		strings.TrimSuffix(plistOf(`<array><true/></array>`), ">\n"):     "ends",
		strings.Replace(plistOf(`<array/>`), "</plist>", "</plist>x", 1): "not valid at line 5",
	} {
		_, err := Open(t.Context(), "xml", strings.NewReader(document), Options{Temp: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nfailed with %v, want %q", document, err, want)
		}
	}
}

// TestPropertyListsInPages holds that they are read so as answers of a source, too.
func TestPropertyListsInPages(t *testing.T) {
	pages := NewPages(Options{Temp: t.TempDir()}, func(*columnar.Cells) error { return nil })
	defer pages.Close()
	for _, page := range []string{`<array><dict><key>a</key><true/></dict></array>`, `<array><dict><key>b</key><integer>2</integer></dict></array>`} {
		if _, err := pages.Add(t.Context(), "xml", strings.NewReader(plistOf(page))); err != nil {
			t.Fatal(err)
		}
	}
	if names := strings.Join(pages.Names(), "|"); names != "a|b" || pages.Rows() != 2 || pages.Found().Path.By == feedmill.BySet {
		t.Errorf("%s in %d rows", names, pages.Rows())
	}
}

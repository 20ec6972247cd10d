package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// JSON and XML can be in an encoding that neither they nor their standards allow, where
// somebody says so.
func TestEncodingOfDocuments(t *testing.T) {
	for _, test := range []struct{ format, encoding, data string }{
		{"json", "windows-1252", "[{\"a\":\"Jos\xe9\"}]"},
		{"ndjson", "windows-1252", "{\"a\":\"Jos\xe9\"}\n"},
		{"json", "utf-8", "[{\"a\":\"José\"}]"},
		{"json", "windows-1252", "\xff\xfe[\x00{\x00\"\x00a\x00\"\x00:\x00\"\x00J\x00o\x00s\x00\xe9\x00\"\x00}\x00]\x00"},
		{"xml", "windows-1252", "<r><o><a>Jos\xe9</a></o></r>"},
		{"xml", "windows-1252", "<?xml version=\"1.0\" encoding=\"utf-8\"?><r><o><a>Jos\xe9</a></o></r>"},
		{"xml", "utf-8", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><r><o><a>José</a></o></r>"},
	} {
		options := Options{ReadingOptions: feedmill.ReadingOptions{Encoding: test.encoding}, Temp: t.TempDir()}
		table, err := Open(t.Context(), test.format, strings.NewReader(test.data), options)
		if err != nil {
			t.Errorf("%s in %s: %v", test.format, test.encoding, err)
			continue
		}
		if rows := decodetest.Rows(t, table); len(rows) != 1 || rows[0][0] != "José" || table.Found().Encoding.By != feedmill.BySet {
			t.Errorf("%s in %s: %q %+v", test.format, test.encoding, rows, table.Found().Encoding)
		}
		_ = table.Close()
		pages := NewPages(options, func(*columnar.Cells) error { return nil })
		if rows, err := pages.Add(t.Context(), test.format, strings.NewReader(test.data)); err != nil || rows != 1 {
			t.Errorf("a page of %s in %s: %d rows, %v", test.format, test.encoding, rows, err)
		}
		_ = pages.Close()
	}
}

// TestCharsetOfXML is what a media type says of a document that says nothing itself.
func TestCharsetOfXML(t *testing.T) {
	for _, test := range []struct{ charset, data string }{
		{"iso-8859-1", "<r><o><a>Jos\xe9</a></o></r>"},
		{"iso-8859-2", "<r><o><a>José</a></o></r>"},
		{"utf-8", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><r><o><a>Jos\xe9</a></o></r>"},
	} {
		table, err := Open(t.Context(), "xml", strings.NewReader(test.data), Options{Charset: test.charset, Temp: t.TempDir()})
		if err != nil {
			t.Errorf("%q: %v", test.data, err)
			continue
		}
		if rows := decodetest.Rows(t, table); len(rows) != 1 || rows[0][0] != "José" {
			t.Errorf("%q: %q", test.data, rows)
		}
		_ = table.Close()
	}
}

// What a media type says of JSON counts expected it is no Unicode, which it.
func TestCharsetOfJSON(t *testing.T) {
	for _, test := range []struct{ format, charset, data, found string }{
		{"json", "iso-8859-1", "[{\"a\":\"Jos\xe9\"}]", "windows-1252 found"},
		{"ndjson", "latin1", "{\"a\":\"Jos\xe9\"}\n", "windows-1252 found"},
		{"json", "windows-1251", "[{\"a\":\"José\"}]", " "},
		{"ndjson", "windows-1251", "{\"a\":\"José\"}\n", " "},
		{"json", "windows-1251", "[\x00{\x00\"\x00a\x00\"\x00:\x00\"\x00J\x00o\x00s\x00\xe9\x00\"\x00}\x00]\x00", "utf-16le found"},
		{"json", "utf-16", "[{\"a\":\"José\"}]", " "},
	} {
		table, err := Open(t.Context(), test.format, strings.NewReader(test.data), Options{Charset: test.charset, Temp: t.TempDir()})
		if err != nil {
			t.Errorf("%q in %s: %v", test.data, test.charset, err)
			continue
		}
		found := table.Found().Encoding
		if rows := decodetest.Rows(t, table); len(rows) != 1 || rows[0][0] != "José" || found.Value+" "+found.By != test.found {
			t.Errorf("%q in %s: %q %+v", test.data, test.charset, rows, found)
		}
		_ = table.Close()
	}
}

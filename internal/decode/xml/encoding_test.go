package xml

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/feedmill/feedmill"
)

// wide is a text in UTF-16.
func wide(text string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		low, high := byte(unit), byte(unit>>8)
		if bigEndian {
			low, high = high, low
		}
		b.Write([]byte{low, high})
	}
	return b.String()
}

func TestFindEncoding(t *testing.T) {
	const declaration = `<?xml version="1.0" encoding="UTF-16"?><a/>`
	for _, test := range []struct {
		document string
		want     Encoding
		fault    string
	}{
		{"", Encoding{"utf-8", 0, ""}, ""},
		{"<a/>", Encoding{"utf-8", 0, ""}, ""},
		{"\ufeff<a/>", Encoding{"utf-8", 3, ""}, ""},
		{"\ufeff<?xml version='1.0' encoding='utf-8'?><a/>", Encoding{"utf-8", 3, "utf-8"}, ""},
		{"<?xml version='1.0'?><a/>", Encoding{"utf-8", 0, ""}, ""},
		{"<?xml version='1.0' encoding='UTF-8'?><a/>", Encoding{"utf-8", 0, "UTF-8"}, ""},
		{"<?xml version='1.0' encoding='US-ASCII'?><a/>", Encoding{"utf-8", 0, "US-ASCII"}, ""},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", Encoding{"iso-8859-1", 0, "ISO-8859-1"}, ""},
		{"<?xml version='1.0'\r\n encoding = \"Windows-1252\" standalone='yes'?>", Encoding{"windows-1252", 0, "Windows-1252"}, ""},
		{"<?xml version='1.0' encoding='Shift_JIS'?><a/>", Encoding{"shift_jis", 0, "Shift_JIS"}, ""},
		{"<?xml encoding='ISO-8859-1'?><a/>", Encoding{"utf-8", 0, ""}, ""}, // wrong, which the reader says
		{wide("\ufeff<a/>", false), Encoding{"utf-16le", 2, ""}, ""},
		{wide("\ufeff<a/>", true), Encoding{"utf-16be", 2, ""}, ""},
		{wide("<a/>", false), Encoding{"utf-16le", 0, ""}, ""},
		{wide("<a/>", true), Encoding{"utf-16be", 0, ""}, ""},
		{wide("\ufeff"+declaration, false), Encoding{"utf-16le", 2, "UTF-16"}, ""},
		{wide(declaration, true), Encoding{"utf-16be", 0, "UTF-16"}, ""},
		{wide("\ufeff<?xml version='1.0' encoding='UTF-16LE'?><a/>", false), Encoding{"utf-16le", 2, "UTF-16LE"}, ""},
		{wide("\ufeff<?xml version='1.0' encoding='UTF-16LE'?><a/>", true), Encoding{}, "declares the encoding UTF-16LE, but its first bytes are UTF-16BE"},
		{wide("\ufeff<?xml version='1.0' encoding='UTF-8'?><a/>", false), Encoding{}, "declares the encoding UTF-8, but its first bytes are UTF-16LE"},
		{"\ufeff<?xml version='1.0' encoding='ISO-8859-1'?><a/>", Encoding{}, "declares the encoding ISO-8859-1, but its first bytes are UTF-8"},
		{declaration, Encoding{}, "declares the encoding UTF-16 but uses another"},
		{"\x00\x00\xfe\xff\x00\x00\x00<", Encoding{}, "is in UTF-32"},
		{"\xff\xfe\x00\x00<\x00\x00\x00", Encoding{}, "is in UTF-32"},
		{"\x00\x00\x00<\x00\x00\x00a", Encoding{}, "is in UTF-32"},
		{"<\x00\x00\x00a\x00\x00\x00", Encoding{}, "is in UTF-32"},
		{"\x4c\x6f\xa7\x94\x93", Encoding{}, "is in EBCDIC"},
	} {
		got, err := FindEncoding([]byte(test.document))
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%q: error %v, want one with %q", test.document, err, test.fault)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%q: %+v, %v, want %+v", test.document, got, err, test.want)
		}
	}
}

// TestFoundEncoding holds that a table says what it was written in where that is not UTF-8.
func TestFoundEncoding(t *testing.T) {
	for _, test := range []struct {
		document string
		options  Options
		want     feedmill.Finding
	}{
		{"<?xml version='1.0' encoding='Windows-1252'?><r><o>\xfc</o></r>", Options{}, feedmill.Finding{Value: "windows-1252", By: feedmill.ByFound}},
		{"\xff\xfe<\x00a\x00/\x00>\x00", Options{}, feedmill.Finding{Value: "utf-16le", By: feedmill.ByFound}},
		{"<r><o>\xfc</o></r>", Options{Charset: "iso-8859-1"}, feedmill.Finding{Value: "windows-1252", By: feedmill.ByFound}},
		{"<r><o>\xfc</o></r>", Options{Encoding: "windows-1252"}, feedmill.Finding{Value: "windows-1252", By: feedmill.BySet}},
		{"<r><o>ü</o></r>", Options{}, feedmill.Finding{}},
	} {
		table, err := Open(t.Context(), strings.NewReader(test.document), test.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Found().Encoding; got != test.want {
			t.Errorf("%q: %+v, want %+v", test.document, got, test.want)
		}
		table.Close()
	}
}

func TestDeclaration(t *testing.T) {
	r := NewReader(strings.NewReader("<?xml version='1.1' encoding='Utf-8' standalone='yes'?><a/>"))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if got := r.Declaration(); got != (Declaration{"1.1", "Utf-8", "yes"}) {
		t.Errorf("got %+v", got)
	}
	r.AnyEncoding = true
	r.Reset(strings.NewReader("<?xml version='1.0' encoding='windows-1252'?><a/>"))
	if got, err := tokensOf(r); got != "<a></a>" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	r.Reset(strings.NewReader("<a/>"))
	if _, err := tokensOf(r); err != nil || r.Declaration() != (Declaration{}) {
		t.Errorf("got %+v, %v", r.Declaration(), err)
	}
}

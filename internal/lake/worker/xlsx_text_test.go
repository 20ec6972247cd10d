package worker

import (
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestSheetText(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"=1+1":                "=1+1",
		"a\tb\nc é 😀":         "a\tb\nc é 😀",
		"<a> & \"b\"":         "&lt;a&gt; &amp; \"b\"",
		"a\r\nb":              "a_x000D_\nb",
		"\x00\x1f\x7f":        "_x0000__x001F_\x7f",
		"\uFFFD\uFFFE\uFFFF":  "\uFFFD_xFFFE__xFFFF_",
		"ｆ":                   "ｆ", // begins with the same byte as those
		"_x0041_":             "_x005F_x0041_",
		"_x00e9_":             "_x005F_x00e9_",
		"_x0041_x0042_":       "_x005F_x0041_x005F_x0042_",
		"_x0041\r":            "_x005F_x0041_x000D_",
		"_x0041":              "_x0041",
		"_x0041a":             "_x0041a",
		"_x00g1_ _X0041_ __x": "_x00g1_ _X0041_ __x",
		"_\x01":               "__x0001_",
		"a\xffb":              "a\uFFFDb",
	} {
		if got := string(appendSheetText(nil, []byte(text))); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
		if got := readBack(t, text); got != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%q is read back as %q", text, got)
		}
	}
}

// readBack reads the cell that a text is written to.
func readBack(t *testing.T, text string) string {
	t.Helper()
	var c struct {
		Text string `xml:"is>t"`
	}
	cell := appendTextCell([]byte("<c"), styleText, []byte(text))
	if err := xml.Unmarshal(cell, &c); err != nil {
		t.Fatalf("%q is written %q: %v", text, cell, err)
	}
	return Unescape(c.Text)
}

func TestCutText(t *testing.T) {
	for _, letter := range []string{"a", "é", "日", "😀"} {
		for _, before := range []string{"", "x"} {
			units := len(utf16.Encode([]rune(letter)))
			fits := before + strings.Repeat(letter, (maxCellUnits-len(before))/units)
			if got := cellUnits([]byte(fits)); got > maxCellUnits {
				t.Errorf("%d characters of %q do not fit", got, letter)
			}
			long := fits + "yz"
			if got, want := cellUnits([]byte(long)), len(utf16.Encode([]rune(long))); got != want {
				t.Errorf("%d characters of %q, want %d", got, letter, want)
			}
			cut := string(cutText([]byte(long)))
			kept, marked := strings.CutSuffix(cut, cutMark)
			size := len(utf16.Encode([]rune(cut)))
			if !marked || !utf8.ValidString(cut) || !strings.HasPrefix(long, kept) || size > maxCellUnits || size < maxCellUnits-1 {
				t.Errorf("%q was cut to %d characters, ending with %q", letter, size, cut[len(cut)-40:])
			}
		}
	}
}

func TestColumnLetters(t *testing.T) {
	for place, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA", 16_383: "XFD"} {
		if got := columnLetters(place); got != want {
			t.Errorf("column %d is %s, want %s", place, got, want)
		}
	}
}

// FuzzSheetText holds that every text comes back from a cell as it was.
func FuzzSheetText(f *testing.F) {
	for _, text := range []string{"", " a ", "_x0041_x0042_", "_x0041\x01", "__x005F_\r\n", "<&>]]>", "\uFFFE\uFFFF\uFFFD", "\xff", "=HYPERLINK(\"x\")"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := readBack(t, text), strings.ToValidUTF8(text, "\uFFFD"); got != want {
			t.Errorf("%q is read back as %q", text, got)
		}
	})
}

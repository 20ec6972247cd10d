package json

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// JSON in UTF-16 is read as the same text in UTF-8 is.
func TestUTF16JSON(t *testing.T) {
	long := "[" + strings.TrimSuffix(strings.Repeat(`{"ключ":"значение","n":1},`, 300), ",") + "]"
	for _, test := range []struct{ format, text string }{
		{"json", `[{"a":"Zoë 😀","b":1}]`},
		{"json", `[]`},
		{"json", `{"data":[{"a":1},{"a":2}]}`},
		{"json", long},
		{"ndjson", "{\"a\":1}\n{\"a\":\"é\"}\n"},
	} {
		want, err := readJSON(t, openerOf(test.format), []byte(test.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{
			decodetest.InUTF16(binary.LittleEndian, test.text), decodetest.InUTF16(binary.BigEndian, test.text),
			decodetest.InUTF16(binary.LittleEndian, "\ufeff"+test.text), decodetest.InUTF16(binary.BigEndian, "\ufeff"+test.text),
		} {
			got, err := readJSON(t, openerOf(test.format), data, Options{Temp: t.TempDir()})
			if err != nil || got.String() != want.String() {
				t.Errorf("%.40q is\n%v\nwant\n%v\nerror %v", data, got, want, err)
			}
		}
	}
}

// TestUTF16JSONIsSaid holds that the encoding stands among what was found.
func TestUTF16JSONIsSaid(t *testing.T) {
	data := decodetest.InUTF16(binary.BigEndian, `[{"a":1}]`)
	table, err := Open(t.Context(), bytes.NewReader(data), Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	spool := input.NewSpool(t.TempDir())
	defer spool.Close()
	pages, err := NewPages(Options{}, false, spool)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := pages.Add(t.Context(), bytes.NewReader(data), false, 0, 0, func(*columnar.Cells) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, found := range []feedmill.Findings{table.Found(), pages.Found()} {
		if found.Encoding != feedmill.Found("utf-16be", true) {
			t.Errorf("found %+v", found.Encoding)
		}
	}
}

func TestUTF16JSONIsRefused(t *testing.T) {
	for _, test := range []struct{ data, want string }{
		{"\xff\xfe[\x00", "the data ends here"},
		{"\xff\xfe[\x00]", "ends in the middle of a character"},
		{string(decodetest.InUTF16(binary.LittleEndian, `["a",]`)), "line 1, column 6"},
		{"\xff\xfe\"\x00\x00\xd8\"\x00", "half of a surrogate pair"},
		// Only UTF-16 is taken for what it is: this is Windows-1252.
		{"[\"Zo\xeb\"]", "not valid UTF-8"},
		{"\x00\x00\x00[\x00\x00\x00]", "byte 0"},
	} {
		_, err := readJSON(t, Open, []byte(test.data), Options{})
		decodetest.MustRefuse(t, err, test.want)
	}
	for _, data := range []string{"\xff\xfe", "\xfe\xff\x00 "} {
		if _, err := Open(t.Context(), strings.NewReader(data), Options{}); err != input.ErrNoData {
			t.Errorf("%q: error %v", data, err)
		}
	}
}

// The temporary file has no name and needs none.
func TestUTF16JSONLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	j, err := Open(t.Context(), bytes.NewReader(decodetest.InUTF16(binary.LittleEndian, "[1,2,3]")), Options{Temp: folder})
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(folder), "*")
	if err != nil || len(files) > 0 {
		t.Errorf("files %v, error %v", files, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	missing := filepath.Join(folder, "missing")
	if _, err := Open(t.Context(), bytes.NewReader(decodetest.InUTF16(binary.LittleEndian, "[1]")), Options{Temp: missing}); err == nil {
		t.Error("opened without a folder for the text")
	}
}

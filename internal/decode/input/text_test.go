package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

func TestOpenText(t *testing.T) {
	const table = "name;city\nZoë;Łódź\n"
	prose := strings.Repeat("吾輩は猫である。名前はまだ無い。", 300) + strings.Repeat("\n"+strings.Repeat("猫", 60)+",1", 200)
	crossing := strings.Repeat("a", ChunkSize-2) + "€" + strings.Repeat("ö", ChunkSize)
	for _, test := range []struct {
		name     string
		in       string
		encoding Encoding
		want     string
		warning  string
	}{
		{"utf-8", table, UTF8, table, ""},
		{"utf-8 with a mark", "\ufeff" + table, UTF8, table, ""},
		{"only a mark", "\ufeff", UTF8, "", ""},
		{"empty", "", UTF8, "", ""},
		{"utf-8 across chunks", crossing, UTF8, crossing, ""},
		{"utf-16 le with a mark", string(decodetest.InUTF16(binary.LittleEndian, "\ufeff"+table)), UTF16LE, table, ""},
		{"utf-16 be with a mark", string(decodetest.InUTF16(binary.BigEndian, "\ufeff"+table+"😀")), UTF16BE, table + "😀", ""},
		{"utf-16 le by pattern", string(decodetest.InUTF16(binary.LittleEndian, table)), UTF16LE, table, ""},
		{"utf-16 be by pattern", string(decodetest.InUTF16(binary.BigEndian, table)), UTF16BE, table, ""},
		{"utf-16 with other zeros by pattern", string(decodetest.InUTF16(binary.LittleEndian, table+"😀")), UTF16LE, table + "😀", ""},
		{"utf-16 by the pattern of the whole", string(decodetest.InUTF16(binary.BigEndian, prose)), UTF16BE, prose, ""},
		{"windows-1252", "name,price\nZo\xeb,5 \x80\n", Windows1252, "name,price\nZoë,5 €\n", feedmill.WarnEncoding},
		{"windows-1252 at the very end", strings.Repeat("x\n", ChunkSize/2) + "\xe9", Windows1252, strings.Repeat("x\n", ChunkSize/2) + "é", feedmill.WarnEncoding},
		{"windows-1252 where a chunk begins", strings.Repeat("x", ChunkSize) + "\x80y", Windows1252, strings.Repeat("x", ChunkSize) + "€y", feedmill.WarnEncoding},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			spool := NewSpool(folder)
			text, err := OpenText(t.Context(), strings.NewReader(test.in), "", "", ChunkSize, spool)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want || text.Encoding != test.encoding {
				t.Errorf("%d bytes of %s, want %d of %s", len(got), text.Encoding, len(test.want), test.encoding)
			}
			if warned := len(text.Warnings) > 0; warned != (test.warning != "") {
				t.Errorf("warnings %v", text.Warnings)
			}
			if err := spool.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Who says that a text is UTF-8 has its bad bytes replaced, however many there are, and
// is not told that it is another encoding.
func TestOpenTextThatIsSaidToBeUTF8(t *testing.T) {
	spool := NewSpool(t.TempDir())
	defer spool.Close()
	text, err := OpenText(t.Context(), strings.NewReader("name\nZo\xeb\nJos\xe9\n"), "utf-8", "", ChunkSize, spool)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
	if err != nil || string(got) != "name\nZo\ufffd\nJos\ufffd\n" || len(text.Warnings) != 1 || text.Warnings[0].Code != feedmill.WarnBytes || text.Warnings[0].Count != 2 {
		t.Errorf("%q %+v %v", got, text.Warnings, err)
	}
}

// An encoding that the sender names by the way counts where the data does not tell: not
// where it is UTF-8, and not where it is what programs say by default.
func TestOpenTextThatIsSaidToBe(t *testing.T) {
	for _, test := range []struct {
		in, said, want string
		warnings       int
	}{
		{"name\n\xc4\xe0\n", "windows-1251", "name\nДа\n", 0},
		{"name\nJos\x8e\n", "macintosh", "name\nJosé\n", 0},
		{"name\nJosé\n", "windows-1251", "name\nJosé\n", 0},
		{"name\nJos\xe9\n", "iso-8859-1", "name\nJosé\n", 1},
		{"name\nJos\xe9\n", "klingon", "name\nJosé\n", 1},
		{"name\nJos\xe9\n", "shift_jis", "name\nJosé\n", 1},
	} {
		spool := NewSpool(t.TempDir())
		text, err := OpenText(t.Context(), strings.NewReader(test.in), "", test.said, ChunkSize, spool)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
		if err != nil || string(got) != test.want || len(text.Warnings) != test.warnings {
			t.Errorf("%q said to be %s is %q, %+v %v", test.in, test.said, got, text.Warnings, err)
		}
		spool.Close()
	}
}

func TestOpenTextRefuses(t *testing.T) {
	for _, test := range []struct {
		name, in, problem, detail string
	}{
		{"two zero bytes", strings.Repeat("a,b\n1,2\n", 100) + "\x001\x00,2\n", "not-text", "byte 800"},
		{"a zero byte", "a,b\n1,\x002\n", "not-text", "byte 6"},
		{"a zero byte far in", strings.Repeat("a,b\n", ChunkSize) + "\x00", "not-text", fmt.Sprintf("byte %d", 4*ChunkSize)},
		{"a zero byte behind a mark", "\ufeffa\x00", "not-text", "byte 4"},
		{"half a utf-16 unit", "\xff\xfea\x00b", "truncated-data", "byte 4"},
		{"half a surrogate pair", "\xff\xfea\x00\x00\xd8b\x00", "invalid-encoding", "byte 4"},
		{"a zero in utf-16", "\xff\xfea\x00\x00\x00", "not-text", "byte 4"},
		{"a false mark", "\ufeffZo\xeb", "invalid-encoding", "byte 5"},
		{"a workbook", "PK\x03\x04rest", "not-text", "xlsx"},
		{"an old workbook", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "not-text", "xls"},
		{"gzip that nobody announced", "\x1f\x8b\x08", "not-text", "gzip"},
		{"parquet", "PAR1", "not-text", "Parquet"},
		{"utf-32", "\xff\xfe\x00\x00a\x00\x00\x00", "not-text", "UTF-32"},
		{"garbage", "\x93\x02\x88abc\x07", "not-text", "byte 1 is a control character"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spool := NewSpool(t.TempDir())
			defer spool.Close()
			_, err := OpenText(t.Context(), strings.NewReader(test.in), "", "", ChunkSize, spool)
			refusal, ok := errors.AsType[*feedmill.Error](err)
			if !ok || refusal.Kind != feedmill.ErrUnprocessable || refusal.Type != test.problem || !strings.Contains(refusal.Detail, test.detail) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Any bytes are found valid exactly where they are, wherever the ends of chunks fall.
func TestSurveyAgreesWithValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.SampledFrom([]byte("x\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\x80"))).Draw(t, "data")
		if rapid.Bool().Draw(t, "valid") {
			data = []byte(rapid.StringOf(rapid.SampledFrom([]rune("xé€😀"))).Draw(t, "text"))
		}
		found, err := surveyText(t.Context(), bytes.NewReader(data), rapid.Int64Range(4, 20).Draw(t, "chunk"), false)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(InvalidAt(data))
		if found.Invalid != want || (want < 0) != utf8.Valid(data) {
			t.Fatalf("invalid at %d, want %d", found.Invalid, want)
		}
	})
}

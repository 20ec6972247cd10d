package decode

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/feedmill/feedmill"
)

// zipped is an archive of files, which have their names as content.
func zipped(t testing.TB, names ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, "a,b\n1,"+name+"\n")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestUnwrap(t *testing.T) {
	gz := func(text string) string { return string(gzipped(t, []byte(text))) }
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := string(pack.EncodeAll([]byte(`{"a":1}`), nil))
	workbook := zipped(t, "xl/worksheets/sheet1.xml", "[Content_Types].xml")
	late := zipped(t, "other.xml", "[Content_Types].xml")
	encrypted := []byte(zipped(t, "a.csv"))
	encrypted[bytes.LastIndex(encrypted, []byte("PK\x01\x02"))+8] |= 1
	var many []string
	for i := range 60 {
		many = append(many, strings.Repeat("x", i+1))
	}
	for _, test := range []struct {
		name, data string
		wrapped    Wrapped
		want       string // wrapper, name, format and data, or what is refused
	}{
		{"as it is", "a,b\n1,2\n", Wrapped{}, "  csv a,b\n1,2\n"},
		{"nothing", "", Wrapped{}, "   "},
		{"gzip", gz("a,b\n1,2\n"), Wrapped{FileName: "o.csv.GZ"}, "gzip o.csv csv a,b\n1,2\n"},
		{"gzip without a name", gz(`[{"a":1}]`), Wrapped{}, `gzip  json [{"a":1}]`},
		{"gzip of two parts", gz("a\n") + gz("1\n"), Wrapped{}, "gzip  csv a\n1\n"},
		{"zstd", packed, Wrapped{FileName: "o.json.zst"}, `zstd o.json json {"a":1}`},
		{"the only file", zipped(t, "d/", "d/o.csv", "__MACOSX/o.csv", "d/.DS_Store"), Wrapped{}, "zip o.csv csv a,b\n1,d/o.csv\n"},
		{"a file by its name", zipped(t, "a.csv", "b.csv"), Wrapped{Entry: "b.csv"}, "zip b.csv csv a,b\n1,b.csv\n"},
		{"a file by a pattern", zipped(t, "read.me", "b.csv"), Wrapped{Entry: "*.csv"}, "zip b.csv csv a,b\n1,b.csv\n"},
		{"a file in a folder by a pattern", zipped(t, "read.me", "d/b.csv"), Wrapped{Entry: "*.csv"}, "zip b.csv csv a,b\n1,d/b.csv\n"},
		{"a file by a pattern of folders", zipped(t, "c/b.csv", "d/b.csv"), Wrapped{Entry: "d/*"}, "zip b.csv csv a,b\n1,d/b.csv\n"},
		{"a name that is a pattern, too", zipped(t, "[a].csv", "a.csv"), Wrapped{Entry: "[a].csv"}, "zip [a].csv csv a,b\n1,[a].csv\n"},
		{"a workbook", workbook, Wrapped{}, "  xlsx " + workbook},
		{"a workbook in another order", late, Wrapped{}, "  xlsx " + late},
		{"several files", zipped(t, "b.csv", "a.csv"), Wrapped{}, "contains 2 files. Set entry to one of them: a.csv, b.csv."},
		{"very many files", zipped(t, many...), Wrapped{}, "and 10 more"},
		{"no such file", zipped(t, "a.csv"), Wrapped{Entry: "c.csv"}, `no file "c.csv". It contains: a.csv.`},
		{"a pattern of several", zipped(t, "a.csv", "b.csv"), Wrapped{Entry: "*.csv"}, "entry matches 2 files in the ZIP archive"},
		{"no files", zipped(t), Wrapped{}, "contains no files"},
		{"gzip in gzip", gz(gz("a")), Wrapped{}, "compressed again"},
		{"a cut archive", zipped(t, "a.csv")[:60], Wrapped{}, "damaged or truncated"},
		{"a damaged file", strings.Replace(zipped(t, "a.csv"), "PK\x03\x04", "PK\x03\x05", 1), Wrapped{}, "   "},
		{"a cut gzip", gz(strings.Repeat("a,b\n", 1000))[:30], Wrapped{}, "truncated"},
		{"too much in gzip", gz(strings.Repeat("a,b\n", 50_000)), Wrapped{Limit: 1000}, "longer than 1000 bytes"},
		{"too much in zip", zipped(t, strings.Repeat("x", 2000)), Wrapped{Limit: 1000}, "longer than 1000 bytes"},
		{"a password", string(encrypted), Wrapped{}, "without a password"},
	} {
		if test.wrapped.Limit == 0 {
			test.wrapped.Limit = 1 << 20
		}
		test.wrapped.Temp = t.TempDir()
		got := unwrapped(t, test.data, test.wrapped)
		if strings.HasPrefix(test.want, "  ") {
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("%s is %.200q, want %.200q", test.name, got, test.want)
			}
		} else if !strings.Contains(got, test.want) {
			t.Errorf("%s is %.200q, want %q", test.name, got, test.want)
		}
	}
}

// unwrapped is what comes of data, or why it is refused.
func unwrapped(t *testing.T, data string, w Wrapped) string {
	t.Helper()
	out, err := Unwrap(t.Context(), strings.NewReader(data), w)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(out)
		if closed := out.Close(); closed != nil {
			t.Fatal(closed)
		}
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		for _, f := range refusal.Faults {
			return f.Detail
		}
		return refusal.Detail
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Wrapper + " " + out.Name + " " + out.Format + " " + string(text)
}

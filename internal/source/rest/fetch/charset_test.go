package fetch

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// TestCharset reads pages in the encoding that their media type names, where they do not
// say themselves what it is.
func TestCharset(t *testing.T) {
	for _, test := range []struct{ contentType, encoding, text, want string }{
		{"application/json; charset=iso-8859-1", "", "[{\"n\":\"Jos\xe9\"}]", `[{"n":"José"}]`},
		{"application/json; charset=Shift_JIS", "", "[{\"n\":\"\x95\x5c\"}]", `[{"n":"表"}]`},
		{"application/json; charset=iso-8859-1", "", `[{"n":"José"}]`, `[{"n":"José"}]`},
		{"application/json; charset=klingon", "", `[{"n":"José"}]`, `[{"n":"José"}]`},
		{"text/xml; charset=iso-8859-2", "", "<r><n>\xb3</n></r>", "<r><n>ł</n></r>"},
		{"text/xml; charset=utf-8", "", "<?xml version='1.0' encoding='iso-8859-2'?><r><n>\xb3</n></r>", "<?xml version='1.0' encoding='iso-8859-2'?><r><n>\xb3</n></r>"},
		{"text/xml; charset=iso-8859-1", "", "<?xml version='1.0' encoding='iso-8859-2'?><r><n>\xb3</n></r>", "<?xml version='1.0' encoding='iso-8859-2'?><r><n>\xb3</n></r>"},
		{"text/csv; charset=windows-1251", "", "n\n\xe4\xe0\n", "n\nда\n"},
		{"text/csv; charset=windows-1251", "windows-1252", "n\n\xe4\xe0\n", "n\n\xe4\xe0\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				_, _ = io.WriteString(w, test.text)
			})
			job, got := l.job(`{"request":{"url":"https://api.test/"}}`), new(pages)
			job.Encoding = test.encoding
			if _, err := l.fetcher.Fetch(t.Context(), job, got); err != nil || strings.Join(got.texts, "") != test.want {
				t.Errorf("%s %q: %q %v", test.contentType, test.text, got.texts, err)
			}
		})
	}
}

// What a source says of an error is shown in letters, whatever its encoding.
func TestExcerptsAreText(t *testing.T) {
	for contentType, text := range map[string]string{
		"text/html; charset=iso-8859-1":   "Schl\xfcssel",
		"text/plain; charset=utf-16le":    "S\x00c\x00h\x00l\x00\xfc\x00s\x00s\x00e\x00l\x00",
		"application/json":                "\xff\xfeS\x00c\x00h\x00l\x00\xfc\x00s\x00s\x00e\x00l\x00",
		"application/json; charset=utf-8": "Schlüssel",
		"text/plain; charset=iso-8859-1":  "Schlüssel",
	} {
		if got := inUTF8([]byte(text), http.Header{"Content-Type": {contentType}}); string(got) != "Schlüssel" {
			t.Errorf("%s: %q", contentType, got)
		}
	}
}

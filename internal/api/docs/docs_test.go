package docs

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestPageLoadsNothingFromOutside(t *testing.T) {
	w := httptest.NewRecorder()
	Page().ServeHTTP(w, httptest.NewRequest("GET", "/docs", nil))
	page := w.Body.String()
	for _, m := range regexp.MustCompile(`(?:src|href|spec-url)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if target := m[1]; target != "data:," && (!strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//")) {
			t.Errorf("the page refers to %s", target)
		}
	}
	if strings.Contains(page, "http:") || strings.Contains(page, "https:") || strings.Contains(page, "@import") {
		t.Errorf("the page refers to another place:\n%s", page)
	}
	directives := make(map[string]string)
	for d := range strings.SplitSeq(w.Header().Get("Content-Security-Policy"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), " ")
		directives[name] = value
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "connect-src": "'self'", "frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'none'",
	} {
		if directives[name] != want {
			t.Errorf("%s is %q, want %s", name, directives[name], want)
		}
	}
	for name, value := range directives {
		if strings.Contains(value, "http") || strings.Contains(value, "*") || strings.Contains(value, "unsafe-eval") {
			t.Errorf("%s allows %s", name, value)
		}
	}
}

func TestScriptIsTheSameForAll(t *testing.T) {
	get := func(encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/docs/rapidoc.js", nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		Script().ServeHTTP(w, r)
		return w
	}
	plain, packed := get("identity"), get("br, gzip")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings are %q and %q", plain.Header().Get("Content-Encoding"), packed.Header().Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unpacked, plain.Body.Bytes()) || !bytes.Contains(unpacked, []byte("rapi-doc")) {
		t.Error("the two are not the same script")
	}
}

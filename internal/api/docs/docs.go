// Package docs is the page at /docs: the OpenAPI document made readable, with
// everything it needs in the program itself.
//
// The reader is RapiDoc 9.3.8 (MIT), as its npm package ships it, compressed.
package docs

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strconv"
	"strings"
)

//go:embed page.html
var page []byte

//go:embed static
var static embed.FS

// policy lets the page load nothing from anywhere else. The reader styles
// itself with inline styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Page is the handler of the page itself.
func Page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		w.Write(page)
	})
}

// Script is the handler of the reader's program.
func Script() http.Handler {
	packed, err := static.ReadFile("static/rapidoc-min.js.gz")
	if err != nil {
		panic(err) // it is embedded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/javascript; charset=utf-8")
		h.Set("Cache-Control", "public, max-age=86400")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			h.Set("Content-Length", strconv.Itoa(len(packed)))
			w.Write(packed)
			return
		}
		plain, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			panic(err) // it is embedded
		}
		io.Copy(w, plain)
	})
}

package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed */*
var files embed.FS

// assets are the style sheet and the modules. They have one path for all, made of
// what is in them, so that browsers keep them for ever and modules find each
// other beside themselves.
type assets struct {
	path string
	all  map[string]asset
}

type asset struct {
	contentType string
	text, zip   []byte
}

// loadAssets puts the style sheets of all pages into one, and every module beside it,
// when the first visitor comes: a server that shows no pages starts sooner.
var loadAssets = sync.OnceValue(func() *assets {
	a := &assets{all: make(map[string]asset)}
	styles, _ := fs.Glob(files, "*/*.css")
	slices.SortStableFunc(styles, func(x, y string) int { // the frame's come first
		return strings.Compare(strings.TrimPrefix(x, "frame/"), strings.TrimPrefix(y, "frame/"))
	})
	slices.SortStableFunc(styles, func(x, y string) int { return rank(x) - rank(y) })
	var css bytes.Buffer
	for _, name := range styles {
		css.Write(read(name))
	}
	texts := map[string][]byte{"ui.css": css.Bytes()}
	for _, pattern := range []string{"*/*.js", "*/*.svg"} {
		found, _ := fs.Glob(files, pattern)
		for _, name := range found {
			texts[path.Base(name)] = read(name)
		}
	}
	hash := sha256.New()
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	for _, name := range names {
		hash.Write([]byte(name))
		hash.Write(texts[name])
		a.all[name] = asset{types[path.Ext(name)], texts[name], zipped(texts[name])}
	}
	a.path = "/ui/assets/" + hex.EncodeToString(hash.Sum(nil))[:12] + "/"
	return a
})

func rank(name string) int {
	if strings.HasPrefix(name, "frame/") {
		return 0
	}
	return 1
}

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return text
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	zip.Write(text)
	zip.Close()
	return b.Bytes()
}

// Tokens returns the style sheet with the colors and fonts of the pages.
func Tokens() []byte { return read("frame/tokens.css") }

// Mark returns the logo, as SVG.
func Mark() []byte { return read("frame/mark.svg") }

// ServeHTTP answers an asset, of whatever set: a page that was loaded before a new
// version gets the new ones rather than none.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := a.all[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if strings.HasSuffix(a.path, "/"+r.PathValue("set")+"/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	text := found.text
	if acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		text = found.zip
	}
	w.Write(text)
}

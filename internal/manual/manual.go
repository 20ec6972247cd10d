// Package manual serves the documentation under /docs/: the guides from the folder docs, and
// the API reference from the OpenAPI document.
//
// All pages are rendered on the server, load nothing from other hosts and work without
// scripts. A script adds the search box, copy buttons and the remembered choice of a language.
package manual

import (
	"bytes"
	"compress/gzip"
	"embed"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill/docs"
)

//go:embed assets
var assets embed.FS

// Options are what the pages are built from.
type Options struct {
	// Document returns the OpenAPI document as JSON.
	Document func() []byte
	// Tokens is the style sheet with the colors and fonts of the web interface.
	Tokens []byte
	// Mark is the logo, as SVG.
	Mark []byte
	// Theme returns the theme that a visitor has chosen: light, dark or auto.
	Theme func(*http.Request) string
	// Version is the version of the program, which the pages describe.
	Version string
	// PublicURL is the address in examples; empty for the address of the request.
	PublicURL string
}

// updated is the date of the last change, such as 2026-11-18. The build sets it.
var updated string

// Server serves the documentation. It is an [http.Handler] for /docs and everything below.
type Server struct {
	Options
	load func() *book
}

// New returns the server. It renders the pages when the first one is requested.
func New(o Options) *Server {
	return &Server{Options: o, load: sync.OnceValue(func() *book { return newBook(docs.Files, o.Document()) })}
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP serves a page, its Markdown, the search or an asset.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding, Cookie")
	at := strings.TrimPrefix(r.URL.Path, "/docs")
	if at == "" {
		h.Set("Location", "/docs/")
		h.Set("Content-Length", "0")
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	at = strings.Trim(at, "/")
	switch {
	case at == "search.json":
		s.write(w, r, http.StatusOK, "application/json", s.load().index())
	case at == "search":
		s.search(w, r)
	case strings.HasPrefix(at, "assets/"):
		s.asset(w, r, path.Base(at))
	case strings.HasSuffix(at, ".md"):
		s.markdown(w, r, at)
	default:
		s.page(w, r, at)
	}
}

// view is what the template of every page gets.
type view struct {
	*page
	Book    *book
	Theme   string
	Query   string
	Found   []group
	Nearest []entry
	Version string
	Updated time.Time // zero if it is unknown
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, at string) {
	b := s.load()
	p, ok := b.pages[at]
	if !ok {
		s.show(w, r, http.StatusNotFound, view{page: &page{Title: "Page not found", Kind: "missing"}, Nearest: b.nearest(at)})
		return
	}
	here := *p
	here.HTML = template.HTML(strings.ReplaceAll(string(p.HTML), exampleServer, html.EscapeString(s.address(r))))
	s.show(w, r, http.StatusOK, view{page: &here})
}

// exampleServer is the address in the examples of the guides.
const exampleServer = "http://127.0.0.1:8080"

// address is the address under which the visitor reaches the server.
func (s *Server) address(r *http.Request) string {
	switch {
	case s.PublicURL != "":
		return strings.TrimSuffix(s.PublicURL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	s.show(w, r, http.StatusOK, view{page: &page{Title: "Search the docs", Kind: "search"}, Query: query, Found: s.load().find(query)})
}

func (s *Server) markdown(w http.ResponseWriter, r *http.Request, at string) {
	text, err := fs.ReadFile(docs.Files, at)
	if err != nil {
		s.page(w, r, at)
		return
	}
	s.write(w, r, http.StatusOK, "text/markdown; charset=utf-8", text)
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request, name string) {
	if name == "mark.svg" {
		s.write(w, r, http.StatusOK, "image/svg+xml", s.Mark)
		return
	}
	text, err := assets.ReadFile("assets/" + name)
	kind, served := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(name)]
	if err != nil || !served {
		http.NotFound(w, r)
		return
	}
	if name == "docs.css" {
		text = append(bytes.Clone(s.Tokens), text...)
	}
	s.write(w, r, http.StatusOK, kind, text)
}

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"lower": strings.ToLower}).ParseFS(assets, "assets/*.html"))
})

func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	v.Book, v.Theme, v.Version = s.load(), s.Theme(r), s.Version
	if at, err := time.Parse(time.DateOnly, updated); err == nil {
		v.Updated = at
	}
	var text bytes.Buffer
	if err := templates().ExecuteTemplate(&text, "page", v); err != nil {
		panic(err) // the templates and their data are part of the program
	}
	s.write(w, r, status, "text/html; charset=utf-8", text.Bytes())
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		zip := gzip.NewWriter(w)
		zip.Write(text)
		zip.Close()
		return
	}
	w.WriteHeader(status)
	w.Write(text)
}

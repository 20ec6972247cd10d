package manual

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/docs"
	"github.com/feedmill/feedmill/internal/api/openapi"
)

// maxPage is how many bytes of HTML a page may have.
const maxPage = 100_000

// newServer returns the one server of all tests.
var newServer = sync.OnceValue(func() *Server {
	return New(Options{
		Document: openapi.JSON, Tokens: []byte(":root{--text:#000}"), Mark: []byte("<svg/>"), Theme: func(*http.Request) string { return "auto" },
	})
})

func get(s *Server, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

var (
	anyLink = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	anyID   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestPages checks that every page is small, has one title, and that all its links lead somewhere.
func TestPages(t *testing.T) {
	s := newServer()
	ids := make(map[string][]string)
	texts := make(map[string]string)
	for at := range s.load().pages {
		w := get(s, "/docs/"+at)
		text := w.Body.String()
		texts[at] = text
		if w.Code != http.StatusOK || len(text) > maxPage {
			t.Errorf("%s: status %d, %d bytes, want 200 and at most %d", at, w.Code, len(text), maxPage)
		}
		if strings.Count(text, "<h1") != 1 || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d titles, policy %q", at, strings.Count(text, "<h1"), w.Header().Get("Content-Security-Policy"))
		}
		for _, m := range anyID.FindAllStringSubmatch(text, -1) {
			if slices.Contains(ids[at], m[1]) {
				t.Errorf("%s: the id %q occurs twice", at, m[1])
			}
			ids[at] = append(ids[at], m[1])
		}
	}
	checked := make(map[string]bool) // most links are in the navigation of every page
	for at, text := range texts {
		for _, m := range anyLink.FindAllStringSubmatch(text, -1) {
			if checked[m[1]] {
				continue
			}
			checked[m[1]] = !strings.HasPrefix(m[1], "#")
			if fault := broken(s, ids, at, m[1]); fault != "" {
				t.Errorf("%s: the link to %s is broken: %s", at, m[1], fault)
			}
		}
	}
	if len(texts) < 90 {
		t.Errorf("there are %d pages", len(texts))
	}
}

func broken(s *Server, ids map[string][]string, from, to string) string {
	path, anchor, _ := strings.Cut(to, "#")
	switch {
	case strings.HasPrefix(to, "https://"), to == "/ui/", to == "/openapi.json", strings.HasPrefix(to, "/problems/"):
		return ""
	case path == "":
		path = "/docs/" + from
	case !strings.HasPrefix(path, "/docs/"):
		return "it is not a page"
	}
	at := strings.TrimPrefix(path, "/docs/")
	if ids[at] == nil {
		if get(s, path).Code != http.StatusOK {
			return "there is no such page"
		}
		return ""
	}
	if anchor != "" && !slices.Contains(ids[at], anchor) {
		return "there is no such heading"
	}
	return ""
}

// TestEveryFileIsAPage checks that no file of the documentation is left out.
func TestEveryFileIsAPage(t *testing.T) {
	b := newServer().load()
	err := fs.WalkDir(docs.Files, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && b.pages[address(file)] == nil {
			t.Errorf("%s is not served", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryOperationIsShown checks that each operation is on one page, with five examples.
func TestEveryOperationIsShown(t *testing.T) {
	b := newServer().load()
	shown := make(map[string]int)
	for _, p := range b.pages {
		for _, o := range p.Operations {
			shown[o.ID]++
			if len(o.Samples) != 5 {
				t.Errorf("%s has %d examples", o.ID, len(o.Samples))
			}
		}
	}
	var d document
	if err := json.Unmarshal(openapi.JSON(), &d); err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, methods := range d.Paths {
		for _, raw := range methods {
			var o described
			if json.Unmarshal(raw, &o) == nil && o.OperationID != "" {
				known[o.OperationID] = true
				if shown[o.OperationID] != 1 {
					t.Errorf("%s is shown %d times", o.OperationID, shown[o.OperationID])
				}
			}
		}
	}
	for id := range readSamples() {
		if !known[id] {
			t.Errorf("samples.yaml has %s, which is not an operation", id)
		}
	}
	for _, g := range groups {
		for id := range strings.FieldsSeq(g.operations) {
			if !known[id] {
				t.Errorf("the page %s lists %s, which is not an operation", g.path, id)
			}
		}
	}
}

func TestSearch(t *testing.T) {
	s := newServer()
	found := s.load().find("verify webhook")
	if len(found) == 0 || found[0].Entries[0].Path != "/docs/how-to/verify-webhooks" {
		t.Errorf("found %+v", found)
	}
	n := 0
	for _, g := range s.load().find("feed") {
		n += len(g.Entries)
	}
	if n != maxFound {
		t.Errorf("%d results, want %d", n, maxFound)
	}
	if s.load().find("") != nil || s.load().find("xyzzy webhook") != nil {
		t.Error("a query without a match has results")
	}
	page := get(s, "/docs/search?q="+strings.Repeat("%3Cb%3E", 100)).Body.String()
	if strings.Contains(page, "<b><b>") || !strings.Contains(page, "&lt;b&gt;") {
		t.Error("the page does not escape the query")
	}
	var entries []entry
	if err := json.Unmarshal(get(s, "/docs/search.json").Body.Bytes(), &entries); err != nil || len(entries) < 300 {
		t.Errorf("the index has %d entries, %v", len(entries), err)
	}
}

func TestMissingPage(t *testing.T) {
	w := get(newServer(), "/docs/webhooks/verify")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "/docs/how-to/verify-webhooks") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := get(newServer(), "/docs"); w.Code != http.StatusPermanentRedirect || w.Header().Get("Location") != "/docs/" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestMarkdown(t *testing.T) {
	source, err := os.ReadFile("../../docs/get-started/install.md")
	if err != nil {
		t.Fatal(err)
	}
	w := get(newServer(), "/docs/get-started/install.md")
	if w.Body.String() != string(source) || w.Header().Get("Content-Type") != "text/markdown; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestAddressOfTheServer checks that examples have the address that the visitor has reached.
func TestAddressOfTheServer(t *testing.T) {
	r := httptest.NewRequest("GET", "/docs/get-started/install", nil)
	r.Host = `feeds.example.com"><script>`
	w := httptest.NewRecorder()
	newServer().ServeHTTP(w, r)
	if text := w.Body.String(); strings.Contains(text, exampleServer) || !strings.Contains(text, "http://feeds.example.com&#34;&gt;&lt;script&gt;/healthz") {
		t.Error("the examples do not have the address of the server, escaped")
	}
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"json", `{"a": "x<", "n": 1.5, "b": null}`, `{<i class="k">"a"</i>: <i class="s">"x&lt;"</i>, <i class="k">"n"</i>: <i class="n">1.5</i>, <i class="k">"b"</i>: <i class="k">null</i>}`},
		{"sh", "curl x#y # why", `<i class="k">curl</i> x#y<i class="c"> # why</i>`},
		{"http", "POST <x>", "POST &lt;x&gt;"},
	} {
		if got := string(highlight(c.language, c.code)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.code, got, c.want)
		}
	}
}

func TestRenderer(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"a\nb `x<y` **c** *d* [e](f#g)", `<p>a b <code>x&lt;y</code> <strong>c</strong> <em>d</em> <a href="f#g">e</a></p>`},
		{"- a\n  b\n- c\n\n  d\n\ne", "<ul><li>a b</li><li>c\n<p>d</p></li></ul>\n<p>e</p>"},
		{"1. a\n2. b\n- c", "<ol><li>a</li><li>b</li></ol>\n<ul><li>c</li></ul>"},
		{"- a\n  - b", "<ul><li>a\n<ul><li>b</li></ul></li></ul>"},
		{"| a | b |\n|---|---|\n| `x\\|y` | |", `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td></td></tr></tbody></table></div>`},
		{"<!-- run: x -->\na <script>", "<p>a &lt;script&gt;</p>"},
	} {
		if got := strings.TrimSpace(string(markdown(c.source))); got != c.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", c.source, got, c.want)
		}
	}
}

// Sections between the comments of tabs become tabs, of which the first is chosen. Their headings stay in
// the contents.
func TestTabs(t *testing.T) {
	p := render("how-to/a.md", []byte("# A\n\n## B\n\n<!-- tabs -->\n\n### Go\n\nOne.\n\n```sh\n### no heading\n```\n\n#### Deeper\n\n### C & D\n\nTwo.\n\n<!-- end of tabs -->\n\nAfter.\n"))
	text := string(p.HTML)
	for _, want := range []string{
		`value="go" checked>Go</label><label><input type="radio" name="tabs-1" value="c--d">C &amp; D</label></fieldset>`,
		`<section class="panel" id="go" aria-label="Go">`, `<h4 id="deeper">`, `<section class="panel" id="c--d"`, "</section>\n</div>\n<p>After.</p>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if strings.Count(text, "<section") != 2 || strings.Index(text, "Deeper") > strings.Index(text, `id="c--d"`) || len(p.TOC) != 4 {
		t.Errorf("the tabs are %s, the contents %+v", text, p.TOC)
	}
}

// Pages show the version of the program, and the date of the build if it is known.
func TestVersionAndDate(t *testing.T) {
	o := newServer().Options
	o.Version = "1.2.3"
	s := New(o)
	before := get(s, "/docs/how-to/verify-webhooks").Body.String()
	if !strings.Contains(before, `Version </span>1.2.3</a>`) || strings.Contains(before, "Updated") {
		t.Error("the page has another version or a date")
	}
	updated = "2026-11-18"
	defer func() { updated = "" }()
	if after := get(s, "/docs/how-to/verify-webhooks").Body.String(); !strings.Contains(after, `Updated <time datetime="2026-11-18">18 Nov 2026</time>`) {
		t.Error("the page has no date")
	}
}

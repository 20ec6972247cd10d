package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Where the records of XML were found they stay, from page to page and from one fetch to
// the next.
func TestXMLPathIsKept(t *testing.T) {
	none := func(*columnar.Cells) error { return nil }
	add := func(p *Pages, text string) (int64, error) { return p.Add(t.Context(), "xml", strings.NewReader(text)) }
	const two = `<list total="3"><o id="1"><a>x</a></o><o id="2"><a>y</a></o></list>`
	p := NewPages(Options{List: true}, none)
	for text, want := range map[string]int64{two: 2} {
		if rows, err := add(p, text); err != nil || rows != want {
			t.Fatal(rows, err)
		}
	}
	found := p.Found()
	if found.Path != (feedmill.Finding{Value: "/list/o", By: feedmill.ByFound}) {
		t.Errorf("%+v", found.Path)
	}
	for text, want := range map[string]int64{
		`<list total="0"></list>`:                                      0,
		`<list total="3"><o id="3"><a>z</a></o></list>`:                1,
		`<list total="3"><o id="3"><a><b>z</b><b>z</b></a></o></list>`: 1,
	} {
		if rows, err := add(p, text); err != nil || rows != want {
			t.Errorf("%s: %d rows, %v", text, rows, err)
		}
		next := NewPages(Options{List: true, Before: found}, none)
		if rows, err := add(next, text); err != nil || rows != want {
			t.Errorf("%s in the next fetch: %d rows, %v", text, rows, err)
		}
	}
	next := NewPages(Options{List: true, Before: found}, none)
	if _, err := add(next, `<error><code>1</code></error>`); err == nil || !strings.Contains(err.Error(), "/list/o") {
		t.Errorf("something else: %v", err)
	}
	// One record proves nothing.
	one := NewPages(Options{List: true}, none)
	if _, err := add(one, `<list><o><a>x</a></o></list>`); err != nil || one.Found().Path.By != feedmill.ByAssumed {
		t.Errorf("%+v %v", one.Found().Path, err)
	}
	if rows, err := add(one, two); err != nil || rows != 2 {
		t.Error(rows, err)
	}
}

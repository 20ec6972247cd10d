package xml

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTextOnly(t *testing.T) {
	for _, test := range []struct {
		document, text string
		ok             bool
	}{
		{"<a>12</a>", "12", true},
		{"<a></a>", "", true},
		{"<a/>", "", true},
		{"<a>a longer text, over several words > and '\"</a>", "a longer text, over several words > and '\"", true},
		{"<a> </a>", " ", true},
		{"<a>1&amp;2</a>", "", false},
		{"<a>1<b/></a>", "", false},
		{"<a>1<!----></a>", "", false},
		{"<a><![CDATA[x]]></a>", "", false},
		{"<a>]]</a>", "", false},
		{"<a>1</a >", "", false},
		{"<a>1</ab>", "", false},
	} {
		for _, around := range []string{"", "<r>"} {
			r := NewReader(strings.NewReader(around + test.document + strings.Replace(around, "<", "</", 1)))
			for range 1 + len(around)/3 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			depth := r.Depth()
			text, ok := r.TextOnly()
			if string(text) != test.text || ok != test.ok {
				t.Errorf("%s gives %q, %v", test.document, text, ok)
			}
			if !ok {
				continue
			}
			if r.Depth() != depth-1 || r.Name().Local != "a" {
				t.Errorf("%s: depth %d and name %v", test.document, r.Depth(), r.Name())
			}
			if _, again := r.TextOnly(); again {
				t.Errorf("%s has a second text", test.document)
			}
			if rest, err := tokensOf(r); err != nil || rest != strings.Replace(around, "<", "</", 1) {
				t.Errorf("%s goes on with %q, %v", test.document, rest, err)
			}
		}
	}
	if _, ok := NewReader(strings.NewReader("<a>1</a>")).TextOnly(); ok {
		t.Error("there is text before any element")
	}
}

func TestSkip(t *testing.T) {
	for _, document := range []string{"<r><a/>x</r>", "<r><a></a>x</r>", "<r><a b='1'>y<c/>&amp;<![CDATA[</a>]]><a>z</a><!--</a>--></a>x</r>"} {
		r := NewReader(strings.NewReader(document))
		for range 2 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Skip(); err != nil {
			t.Fatal(err)
		}
		if rest, err := tokensOf(r); err != nil || rest != `"x"</r>` {
			t.Errorf("%s goes on with %s, %v", document, rest, err)
		}
	}
	r := NewReader(strings.NewReader("<r><a></b></r>"))
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Skip(); err == nil {
		t.Error("a wrong element is passed over")
	}
}

func TestDropBlank(t *testing.T) {
	for _, test := range []struct{ document, want string }{
		{"<a> <b/> <c> x </c>\n</a>", `<a><b></b><c>" x "</c></a>`},
		{"<a><b> </b>\t<b>\n\n</b></a>", `<a><b>" "</b><b>"\n\n"</b></a>`},
		{"<a> x <b/> y </a>", `<a>" x "<b></b>" y "</a>`},
		{"<a> <!-- c --> <b/><?p?> </a>", `<a><b></b></a>`},
		{"<a>&#32;<b/><![CDATA[ ]]></a>", `<a>" "<b></b>" "</a>`},
	} {
		for block := range 40 {
			r := &Reader{DropBlank: true}
			r.block = 4 + block
			r.Reset(strings.NewReader(test.document))
			if got, err := tokensOf(r); err != nil || got != test.want {
				t.Errorf("%q in blocks of %d gives %s, %v, want %s", test.document, block, got, err, test.want)
			}
		}
	}
}

func TestOffset(t *testing.T) {
	const document = "\ufeff<?xml version='1.0'?>\r\n<a>\r\nx<b  c='1'\r\n>y&amp;</b>\r\n<c/></a>"
	for block := range 40 {
		r := new(Reader)
		r.block = block
		r.Reset(strings.NewReader(document))
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			token, rest := "", document[r.Offset():]
			switch r.kind {
			case StartElement:
				token = "<" + r.Name().Local
			case EndElement:
				token = "</" + r.Name().Local
				if r.Name().Local == "c" {
					continue
				}
			case Text:
				token = strings.ReplaceAll(string(r.Text()), "\n", "\r\n")
				rest = strings.ReplaceAll(rest, "&amp;", "&")
			}
			if !strings.HasPrefix(strings.TrimPrefix(rest, "\r"), strings.TrimPrefix(token, "\r")) {
				t.Errorf("in blocks of %d: at %d is %q, want %q", block, r.Offset(), rest, token)
			}
		}
	}
}

func TestFaultPlace(t *testing.T) {
	lines := strings.Repeat("<b>\r\n", 900) + strings.Repeat("</b>\r", 900) + strings.Repeat("<c/>\n", 40_000)
	for _, test := range []struct {
		document     string
		line, column int64
	}{
		{"<a>\n\n  <b></c>\n</a>", 3, 8},
		{"<a>\r\n\r\n  <b></c>\r\n</a>", 3, 8},
		{"<a>\r\r  <b></c>\r</a>", 3, 8},
		{"\ufeff<a></b>", 1, 6},
		{"<a>é</b>", 1, 8},
		{"<a>" + lines + "x</b>", 41_801, 4},
	} {
		for _, block := range []int{0, 1, 7, 100} {
			_, err := readIn(block, strings.NewReader(test.document))
			fault, ok := errors.AsType[*Fault](err)
			if !ok || fault.Line != test.line || fault.Column != test.column || !strings.HasPrefix(test.document[fault.Offset-2:], "</") {
				t.Errorf("%.30q in blocks of %d: %v, want line %d, column %d", test.document, block, err, test.line, test.column)
			}
		}
	}
	const want = "line 1, column 6 (byte 5): found the end tag </b>, expected </a>, the end"
	if err := readAll([]byte("<a></b>")); !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}

func TestReadError(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("<a><b/>"), iotest.ErrReader(iotest.ErrTimeout)))
	got, err := tokensOf(r)
	if got != "<a><b></b>" || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %s, %v", got, err)
	}
	if kind, err := r.Next(); kind != None || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("after the error: %v, %v", kind, err)
	}
	r.Reset(strings.NewReader("<c/>"))
	if got, err := tokensOf(r); got != "<c></c>" || err != nil {
		t.Errorf("after a reset: %s, %v", got, err)
	}
	if kind, err := r.Next(); kind != None || err != io.EOF {
		t.Errorf("after the end: %v, %v", kind, err)
	}
}

func TestCallersFault(t *testing.T) {
	r := NewReader(strings.NewReader("<a>\n <b/></a>"))
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Fault("no b").Error(); got != "line 2, column 2 (byte 5): no b" {
		t.Error(got)
	}
}

package xml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// many orders, so that they are the most of a document.
func orders(n int) string {
	return strings.Repeat(`<order><id>1</id><total>2</total></order>`, n)
}

func TestLocate(t *testing.T) {
	lines := func(n int) string { return strings.Repeat(`<line sku="a" n="1"/>`, n) }
	for _, test := range []struct {
		name, document, want string
	}{
		{"repeated elements", `<orders>` + orders(2) + `</orders>`, "/orders/order"},
		{"deep", `<r><a><b>` + orders(2) + `</b></a></r>`, "/r/a/b/order"},
		{"the most bytes", `<r><cs><c n="1"/><c n="2"/></cs><os>` + orders(3) + `</os></r>`, "/r/os/order"},
		{"the outermost", `<r><o>` + lines(5) + `</o><o>` + lines(5) + `</o></r>`, "/r/o"},
		{"elements before texts", `<r><tag>a</tag><tag>b</tag><x><o><a>1</a></o><o><a>2</a></o></x></r>`, "/r/x/o"},
		{"texts alone", `<r><tag>a</tag><tag>b</tag></r>`, "/r/tag"},
		{"an invoice", `<invoice><id>1</id><date>d</date><customer>c</customer>` + lines(3) + `</invoice>`, "/invoice"},
		{"an invoice with attributes", `<invoice id="1" date="d" customer="c">` + lines(3) + `</invoice>`, "/invoice"},
		{"lines in a list", `<invoice id="1" date="d" customer="c"><lines>` + lines(3) + `</lines></invoice>`, "/invoice"},
		{"many lines", `<invoice id="1" date="d" customer="c">` + lines(100) + `</invoice>`, "/invoice/line"},
		{"no id", `<export date="d" by="x" n="3">` + lines(3) + `</export>`, "/export/line"},
		{"side-cars", `<r><errors><error code="1">` + strings.Repeat("x", 500) + `</error><error code="2"/></errors>` + orders(2) + `</r>`, "/r/order"},
		{"side-cars alone", `<r><errors><error code="1"/><error code="2"/></errors></r>`, "/r/errors/error"},
		{"one record", `<orders>` + orders(1) + `</orders>`, "/orders/order"},
		{"one record with more", `<r><a>1</a>` + orders(1) + `</r>`, "/r"},
		{"no elements", `<r/>`, "/r"},
		{"RSS", `<rss version="2.0"><channel><title>t</title><link>l</link><item><title>a</title></item><item><title>b</title></item></channel></rss>`, "/rss/channel/item"},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><id>i</id><title>t</title><updated>u</updated><link href="1"/><link href="2"/><entry><id>1</id></entry><entry><id>2</id></entry></feed>`, "/feed/entry"},
		{"Atom with one entry", `<feed xmlns="http://www.w3.org/2005/Atom"><id>i</id><title>t</title><updated>u</updated><entry><id>1</id></entry></feed>`, "/feed/entry"},
		{"OData", `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="m" xmlns:d="d"><id>x</id><title>t</title><updated>u</updated>` +
			strings.Repeat(`<entry><id>1</id><content><m:properties><d:ID>1</d:ID></m:properties></content></entry>`, 2) + `</feed>`, "/feed/entry"},
		{"SOAP", `<s:Envelope xmlns:s="u"><s:Header/><s:Body><GetResponse><Result>` + orders(2) + `</Result></GetResponse></s:Body></s:Envelope>`, "/s:Envelope/s:Body/GetResponse/Result/order"},
		{"SOAP with one result", `<s:Envelope xmlns:s="u"><s:Body><GetResponse>` + orders(1) + `</GetResponse></s:Body></s:Envelope>`, "/s:Envelope/s:Body/GetResponse/order"},
		{"a sitemap", `<urlset><url><loc>a</loc></url><url><loc>b</loc></url></urlset>`, "/urlset/url"},
		{"an SVG", `<svg width="1"><g><path d="a"/><path d="b"/></g><g><g><path d="c"/></g></g></svg>`, "/svg/g"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Open(t.Context(), strings.NewReader(test.document), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			if len(table.records) != 1 || table.records[0].path() != test.want {
				t.Errorf("the records are at %s, want %s", table.records[0].path(), test.want)
			}
		})
	}
}

func TestOtherRecords(t *testing.T) {
	table, err := Open(t.Context(), strings.NewReader(`<r><cs><c n="1"/><c n="2"/></cs>`+orders(3)+`<links><link h="1"/><link h="2"/></links></r>`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	warnings, err := table.Warnings()
	if err != nil || len(warnings) != 1 || warnings[0].Code != feedmill.WarnRecords || warnings[0].Count != 1 || !strings.Contains(warnings[0].Detail, " at /r/cs/c;") {
		t.Errorf("got %+v, %v", warnings, err)
	}
}

// Every place where records may be is told of, that which was taken first.
func TestCandidates(t *testing.T) {
	const document = `<r><x a="1"/><x a="2"/><ys><y b="1"><c>some text</c></y><y b="2"><c>some more</c></y></ys></r>`
	table, err := Open(t.Context(), strings.NewReader(document), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got, want := fmt.Sprint(table.Found().Candidates), "[{/r/ys/y 2 [@b c]} {/r/x 2 [@a]}]"; got != want {
		t.Errorf("the candidates are %s, want %s", got, want)
	}
	table, err = Open(t.Context(), strings.NewReader(document), Options{Path: "/r/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got, want := fmt.Sprint(table.Found().Candidates), "[{/r/x 2 [@a]} {/r/ys/y 2 [@b c]}]"; got != want {
		t.Errorf("with a path the candidates are %s, want %s", got, want)
	}
}

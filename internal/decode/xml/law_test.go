package xml

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writeElement writes an element with random content, whose names and form depend on a few choices,
// so that the same often follows the same.
func writeElement(t *rapid.T, b *strings.Builder, name, indent string, depth int) {
	b.WriteString(indent + "<" + name)
	if rapid.IntRange(0, 9).Draw(t, "attribute") == 0 {
		b.WriteString(rapid.SampledFrom([]string{` k="1"`, ` xml:space="preserve"`, ` xmlns:p="u" p:k="2"`, ` xmlns="v"`}).Draw(t, "which"))
	}
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "deep") == 0 {
		text := rapid.SampledFrom([]string{"", "x", "12", " y ", "a &amp; b", "<![CDATA[<]]>", "é", "<!-- c -->z", "]]", "long text that is longer than a word"}).Draw(t, "text")
		if text == "" && rapid.Bool().Draw(t, "short") {
			b.WriteString("/>")
			return
		}
		b.WriteString(">" + text + "</" + name + ">")
		return
	}
	b.WriteString(">")
	for _, child := range []string{"a", "b", "c", "d"} {
		for range rapid.SampledFrom([]int{1, 1, 1, 1, 0, 2}).Draw(t, "times") {
			writeElement(t, b, child, indent+" ", depth-1)
		}
	}
	if rapid.IntRange(0, 30).Draw(t, "mixed") == 0 {
		b.WriteString("tail")
	}
	b.WriteString(indent + "</" + name + ">")
}

// Passages and blocks make no difference to a table.
func TestPassagesChangeNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		indent := rapid.SampledFrom([]string{"", "\n", "\r\n", "\n\t"}).Draw(r, "indent")
		var kinds []string
		for range rapid.IntRange(1, 3).Draw(r, "kinds") {
			var b strings.Builder
			writeElement(r, &b, "o", indent, 3)
			kinds = append(kinds, b.String())
		}
		var b strings.Builder
		b.WriteString("<r>")
		for range rapid.IntRange(2, 10).Draw(r, "records") {
			b.WriteString(rapid.SampledFrom(kinds).Draw(r, "record"))
			if rapid.IntRange(0, 20).Draw(r, "between") == 0 {
				b.WriteString(rapid.SampledFrom([]string{"<x/>", "<!-- c -->", "<o>y</o>", "</r2><r2>"}).Draw(r, "what"))
			}
		}
		b.WriteString("</r>")
		document := strings.ReplaceAll(b.String(), "</r2><r2>", "<o/>")
		options := Options{Path: "/r/o"}
		if rapid.Bool().Draw(r, "explode") {
			options.Explode = "a/b"
		}
		read := func(o Options) string {
			names, rows := readTable(t, document, o)
			return fmt.Sprint(names, "\n", strings.Join(rows, "\n"))
		}
		options.tagByTag = true
		want := read(options)
		for _, block := range []int64{0, 1, 300} {
			options.tagByTag, options.blockBytes = false, block
			if got := read(options); got != want {
				r.Fatalf("%s\nin blocks of %d gives\n%s\nwant\n%s", document, block, got, want)
			}
		}
	})
}

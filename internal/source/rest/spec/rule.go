package spec

import (
	"bytes"
	"io"
	"math/big"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Test is what a rule wants of the value at its path.
type Test struct {
	kind testKind
	// than is what testEquals and testDiffers compare with.
	than strictjson.Value
}

type testKind int

const (
	testSet     testKind = iota // a value other than null, false, 0 and what is empty
	testExists                  // any value, null included
	testAbsent                  // no value at all
	testEquals                  // the same JSON value
	testDiffers                 // another value, or none
)

// readTest reads how a rule tests the value at bodyPath: at most one of exists, equals and
// notEquals, which can be null.
func readTest(in *object) (t Test) {
	given := 0
	for _, name := range []string{"exists", "equals", "notEquals"} {
		in.Know(name)
		v := in.Value.Member(name)
		if v == nil {
			continue
		}
		given++
		f := in.Field(name, v)
		switch {
		case !in.Has("bodyPath"):
			f.Fault(name + " tests the value at bodyPath; set bodyPath too.")
		case given > 1:
			f.Fault("Set only one of exists, equals and notEquals.")
		case name == "exists":
			yes, _ := f.Boolean()
			if t.kind = testExists; !yes {
				t.kind = testAbsent
			}
		case v.Kind == '{' || v.Kind == '[':
			f.Fault(name + " must be a text, a number, true, false or null.")
		default:
			t.than = *v
			if t.kind = testEquals; name == "notEquals" {
				t.kind = testDiffers
			}
		}
	}
	return t
}

// Matches reports whether a value, the zero value for none, passes the test.
func (t *Test) Matches(v *find.Value) bool {
	switch t.kind {
	case testExists:
		return v.Kind != 0
	case testAbsent:
		return v.Kind == 0
	case testEquals:
		return t.equals(v)
	case testDiffers:
		return !t.equals(v)
	}
	return v.IsSet()
}

// equals compares scalars as JSON does: 1.0 is 1, and "1" is not.
func (t *Test) equals(v *find.Value) bool {
	if v.Kind != t.than.Kind {
		return false
	}
	switch v.Kind {
	case '0':
		return sameNumber(string(v.Raw), string(t.than.Raw))
	case '"':
		text, _ := v.Text()
		return text == t.than.Text()
	}
	return true // true, false and null have one value each
}

// sameNumber compares two JSON numbers by value. Numbers too long or with too large an
// exponent to compute with are compared as they are written.
func sameNumber(a, b string) bool {
	const longest = 400
	if a == b || len(a) > longest || len(b) > longest {
		return a == b
	}
	x, _, errX := big.ParseFloat(a, 10, 2048, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, 2048, big.ToNearestEven)
	return errX == nil && errY == nil && !x.IsInf() && x.Cmp(y) == 0
}

// IsDocument reports whether a body starts as a JSON object or array does. Rules look into
// no other one.
func IsDocument(doc io.ReaderAt) bool {
	head := make([]byte, 512)
	n, _ := doc.ReadAt(head, 0)
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), " \t\r\n")
	kind := jsontext.Value(head).Kind()
	return kind == '{' || kind == '['
}

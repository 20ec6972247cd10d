package find

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

func TestFind(t *testing.T) {
	const doc = "\xef\xbb\xbf" + `{"a":{"b":[10,{"c":"x\u0041"},null]},"next":"u","n":-1.50,"t":true,"e":[],"o":{},"s":"","list":[{"k":1,"v":"p"},{"k":2,"v":"q"}]}`
	for path, want := range map[string]string{
		"$.next": `"u"`, "$.a.b[0]": "10", "$.a.b[1].c": `"x\u0041"`, "$.a.b[2]": "null", "$.n": "-1.50", "$.t": "true",
		"$.missing": "", "$.a.x": "", "$.next.x": "", "$.a.b[7]": "", "$.list[*].v": `"p"`,
		"$.list[?@.k==2].v": `"q"`, "$..c": `"x\u0041"`, "$.list[-1].v": `"q"`, "$.e": "[", "$.a": "{", "$": "{",
	} {
		parsed, err := jsonpath.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Values(t.Context(), strings.NewReader(doc), int64(len(doc)), parsed)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := string(found[0].Raw)
		if k := found[0].Kind; k == '[' || k == '{' {
			got = string(rune(k))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]bool{"$.e": false, "$.o": false, "$.s": false, "$.a": true, "$.list": true, "$.t": true, "$.n": true, "$.a.b[2]": false, "$.zzz": false} {
		found, err := Values(t.Context(), strings.NewReader(doc), int64(len(doc)), MustPath(path))
		if err != nil || found[0].IsSet() != want {
			t.Errorf("%s: %v %v", path, found, err)
		}
	}
	// Several paths take one reading, and a broken document is an error only
	// as far as it is read.
	both, err := Values(t.Context(), strings.NewReader(doc), int64(len(doc)), MustPath("$.t"), MustPath("$.a.b[1].c"), MustPath("$.a"))
	if err != nil || string(both[0].Raw) != "true" || string(both[1].Raw) != `"x\u0041"` || both[2].Kind != '{' {
		t.Error(both, err)
	}
	const broken = `{"a":1,"b":`
	if found, err := Values(t.Context(), strings.NewReader(broken), int64(len(broken)), MustPath("$.a")); err != nil || string(found[0].Raw) != "1" {
		t.Error(found, err)
	}
	if _, err := Values(t.Context(), strings.NewReader(broken), int64(len(broken)), MustPath("$.b")); err == nil {
		t.Error("a broken document has everything")
	}
}

// Both ways to read a document find the same.
func TestSkimLaw(t *testing.T) {
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
			case kind > 3 && depth > 0:
				var parts []string
				object := kind > 5
				for range rapid.IntRange(0, 4).Draw(t, "n") {
					part := value(depth-1).Draw(t, "part")
					if object {
						part = rapid.SampledFrom([]string{`"a"`, `"\u0062"`, ` "c\"\\" `}).Draw(t, "name") + " : " + part
					}
					parts = append(parts, part)
				}
				if object {
					return "{" + strings.Join(parts, " , ") + "}"
				}
				return "[ " + strings.Join(parts, ",") + "]"
			case kind == 0:
				return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
			case kind == 1:
				return rapid.StringMatching(`-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})?(e[+-]?[0-9])?`).Draw(t, "number")
			}
			quoted, _ := json.Marshal(rapid.String().Draw(t, "text"))
			return string(quoted)
		})
	}
	paths := []*jsonpath.Path{MustPath("$.a"), MustPath("$.b.a"), MustPath("$[1]"), MustPath("$.a[0].b"), MustPath("$[*].a")}
	padding := strings.Repeat(" ", 8<<20) // What is so long is not held in memory.
	rapid.Check(t, func(t *rapid.T) {
		doc := value(4).Draw(t, "doc")
		long := doc + padding
		one, err := Values(t.Context(), strings.NewReader(doc), int64(len(doc)), paths...)
		other, err2 := Values(t.Context(), strings.NewReader(long), int64(len(long)), paths...)
		if err != nil || err2 != nil || !reflect.DeepEqual(one, other) {
			t.Fatalf("%s: %v %v, %v %v", doc, one, err, other, err2)
		}
	})
}

func FuzzSkim(f *testing.F) {
	f.Add(`{"a":[1,{"b":"\""}],"next":"x"}`)
	f.Add(`{"a":"\`)
	f.Fuzz(func(t *testing.T, doc string) {
		found, err := Values(t.Context(), strings.NewReader(doc), int64(len(doc)), MustPath("$.next"), MustPath("$.a[0]"))
		if err == nil && len(found) != 2 {
			t.Fatal(found)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	doc := `{"data":[` + strings.TrimSuffix(strings.Repeat(`{"id":12345,"name":"some name of a thing","at":"2026-01-01T00:00:00Z","v":1.25},`, 1250), ",") + `],"next":"x"}`
	b.SetBytes(int64(len(doc)))
	path := MustPath("$.next")
	for b.Loop() {
		if found, err := Values(b.Context(), strings.NewReader(doc), int64(len(doc)), path); err != nil || found[0].Kind != '"' {
			b.Fatal(err)
		}
	}
}

// A value is passed over to where it ends, whatever its strings have in them and wherever
// in a word of eight bytes they begin.
func TestSkimmingFindsTheEndOfAValue(t *testing.T) {
	pieces := []string{`{`, `}`, `[`, `]`, `\\`, `\"`, `\\\"`, `x`, `_^~|`, "\x7f", `é{`, `Łódź`, `,`, `:`, `12345678`, "\xdb\xdd\xfb\xfd"}
	for seed := range uint64(500) {
		draw := rand.New(rand.NewPCG(seed, 1))
		text := strings.Builder{}
		for range draw.IntN(30) {
			text.WriteString(pieces[draw.IntN(len(pieces))])
		}
		quoted := `"` + text.String() + `"`
		value := `{"a":[` + strings.Repeat(" ", draw.IntN(9)) + quoted + `,{"b":[1,` + quoted + `]}],"c":"Z_"}`
		s := &Skimmer{Data: []byte(value + `,"behind":[1]}`)}
		if err := s.SkipValue(); err != nil || s.At != len(value) {
			t.Fatalf("seed %d: %v, and %d of %d bytes of %s", seed, err, s.At, len(value), value)
		}
		s = &Skimmer{Data: []byte(value[:len(value)-1])}
		if err := s.SkipValue(); err == nil {
			t.Fatalf("seed %d: the end was found of %s", seed, s.Data)
		}
	}
}

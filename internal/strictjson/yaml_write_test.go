package strictjson

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendYAML(t *testing.T) {
	v, ok := Read([]byte(`{"name":"orders","on":"yes","url":"https://api.example/orders?page=1","empty":{},"none":[],"list":[1,"1",[2,[]],{"a":null,"b":{"c":true}}],"pem":"-----BEGIN\nabc=\n","odd":" x\n\u0007\u202e\ud83d\ude00","big":123456789012345678901234567890.10}`), Part{}, refuse(t))
	if !ok {
		t.Fatal("the JSON is not valid")
	}
	const want = `name: orders
"on": "yes"
url: https://api.example/orders?page=1
empty: {}
none: []
list:
  - 1
  - "1"
  -
    - 2
    - []
  - a: null
    b:
      c: true
pem: |
  -----BEGIN
  abc=
odd: " x\n\u0007\u202e😀"
big: 123456789012345678901234567890.10
`
	if got := string(v.AppendYAML(nil)); got != want {
		t.Errorf("the YAML is\n%s\nwant\n%s", got, want)
	}
}

// TestYAMLRoundTrip holds that a written document is read as the same value.
func TestYAMLRoundTrip(t *testing.T) {
	words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "yes", "null", "1", "1e5", "0x1F", "2026-11-15", "2026-11-15T12:00:00Z", "~", "a: b", "a #b", "- a", "*a", "&a", "!a", "|", "a\nb\n", "a\n\nb\n", "\na\n", "a\n", " a\n", "a \n", "<<", "=", "?", "a:", "12:30:45", "1_000", "NaN", ".inf", "\u0085", "\u2028", "\ufeff", "e1", "Öl", "a,b", "a\tb\n", "%a", "@a", "`a",
	}))
	var value func(depth int) *rapid.Generator[Value]
	value = func(depth int) *rapid.Generator[Value] {
		return rapid.Custom(func(t *rapid.T) Value {
			kind := rapid.IntRange(0, 6).Draw(t, "kind")
			if depth == 0 {
				kind = kind % 4
			}
			switch kind {
			case 0:
				return Value{Kind: '0', Raw: []byte(rapid.SampledFrom([]string{"0", "-1", "1.50", "1e5", "-0", "12345678901234567890.5"}).Draw(t, "number"))}
			case 1:
				word := rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
				return Value{Kind: Kind(word[0]), Raw: []byte(word)}
			case 2, 3:
				return String(words.Draw(t, "text"))
			case 4:
				return Value{Kind: '[', Items: rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "items")}
			}
			v := Value{Kind: '{'}
			for _, name := range rapid.SliceOfNDistinct(words, 0, 3, rapid.ID).Draw(t, "names") {
				v.Members = append(v.Members, Member{name, value(depth-1).Draw(t, "member")})
			}
			return v
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "value")
		text := v.AppendYAML(nil)
		read, ok := ReadYAML(text, func(pointer, detail string) bool {
			t.Fatalf("%s: %s in\n%s", pointer, detail, text)
			return false
		})
		if want, got := v.Append(nil), read.Append(nil); !ok || !bytes.Equal(want, got) {
			t.Fatalf("read %s, want %s, from\n%s", got, want, text)
		}
	})
}

func refuse(t *testing.T) Note {
	return func(pointer, detail string) bool {
		t.Helper()
		t.Error(strings.TrimSpace(pointer + " " + detail))
		return false
	}
}

package jstext

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	surrogatePair = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}`)
	surrogate     = regexp.MustCompile(`(?i)\\ud[89a-f]`)
)

// strictJSON reports by other means whether src is valid JSON that also keeps
// the stricter rules of [Append].
func strictJSON(src []byte) bool {
	if !json.Valid(src) || !utf8.Valid(src) {
		return false
	}
	text := surrogatePair.ReplaceAllString(strings.ReplaceAll(string(src), `\\`, "x"), "x")
	if surrogate.MatchString(text) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var walk func(depth int) bool
	walk = func(depth int) bool {
		open, _ := d.Token()
		if _, ok := open.(json.Delim); !ok {
			return true
		}
		ok := depth < MaxDepth
		keys := make(map[string]bool)
		for ok && d.More() {
			if open == json.Delim('{') {
				token, _ := d.Token()
				key := token.(string)
				ok = !keys[key]
				keys[key] = true
			}
			ok = ok && walk(depth+1)
		}
		_, err := d.Token()
		return ok && err == nil
	}
	return walk(0)
}

func FuzzJSText(f *testing.F) {
	for _, seed := range []string{
		``, `null`, ` [1, 2.50,-0, 1e21,9007199254740993 ] `, `{"b":1,"10":{"a":[]},"9":"\ud83d\ude00\u2028"}`,
		`{"a":1,"\u0061":2}`, `"\ud800"`, `"\\ud800"`, `{"4294967294":1,"4294967295":2,"01":"\/\b\u001F"}`,
		`[0.0000001,1E400,5e-324,123456789012345678e-5]`, "\"\xff\"", strings.Repeat("[", 65) + strings.Repeat("]", 65),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Append(nil, src)
		if want := strictJSON(src); want != (err == nil) {
			t.Fatalf("%q: got %q, %v; valid: %v", src, got, err, want)
		}
		if err != nil {
			if fault, ok := errors.AsType[*Error](err); !ok || fault.Offset > len(src) {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		if want, _ := oracleText(t, src); string(got) != want {
			t.Fatalf("%q\n got %q\nwant %q", src, got, want)
		}
		again, err := Append(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q became %q, %v", got, again, err)
		}
	})
}

package strictjson

import (
	"slices"
	"strings"
	"testing"
)

func TestReadYAML(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"z\\n\", true, False, ~, null]\nc:\n- d: e f\n": `{"a":1,"b":["x","y","z\n",true,false,null,null],"c":[{"d":"e f"}]}`,
		`{"a":{"b":[1.5e3,-0,1e400]}}`:                                      `{"a":{"b":[1.5e3,-0,1e400]}}`,
		"a: yes\nb: 2024-01-31\nc: 12:30\nd: 1.2.3\ne: on":                  `{"a":"yes","b":"2024-01-31","c":"12:30","d":"1.2.3","e":"on"}`,
		"a: !!str 5\nb: !!float 5\nc: !!map {}\nd: !!seq []":                `{"a":"5","b":5,"c":{},"d":[]}`,
		"a: &x {b: 1}\nc: *x\nd: [*x, *x]\n&k e: 1\nf: {*k : 2}":            `{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}],"e":1,"f":{"e":2}}`,
		"# only a comment above\n---\na:\n...\n":                            `{"a":null}`,
		"a: |\n  two\n  lines\nb: >\n  one\n  line\n":                       `{"a":"two\nlines\n","b":"one line\n"}`,
		"yes: 1\n2024-01-01: 2\n'5': 3":                                     `{"yes":1,"2024-01-01":2,"5":3}`,
		"5":                                                                 "5",
	} {
		var n noted
		v, ok := ReadYAML([]byte(text), n.note)
		if got := string(v.Append(nil)); !ok || n.faults != nil || got != want {
			t.Errorf("%q is read as %s, %q", text, got, n.faults)
		}
	}
}

func TestReadYAMLKeepsLines(t *testing.T) {
	v, _ := ReadYAML([]byte("a: 1\nb:\n  - x\n  - c: d\n"), new(noted).note)
	for pointer, line := range map[string]int32{"": 1, "/a": 1, "/b": 3, "/b/0": 3, "/b/1": 4, "/b/1/c": 4} {
		if got := v.At(pointer).Line; got != line {
			t.Errorf("%s is at line %d, want %d", pointer, got, line)
		}
	}
}

func TestReadYAMLRefuses(t *testing.T) {
	nested := strings.Repeat("[", MaxDepth) + "{}" + strings.Repeat("]", MaxDepth)
	for _, test := range []struct {
		text   string
		faults []string
	}{
		{"", []string{": The YAML is empty."}},
		{"a: 1\n---\nb: 2", []string{": A second YAML document starts at line 2. Send a single document."}},
		{"a: 1\nb: c: secret", []string{": Invalid YAML at line 2: check the indentation, colons, quotes and anchors there."}},
		{"a: *secret", []string{": Invalid YAML at line 1: check the indentation, colons, quotes and anchors there."}},
		{"a: !mine 1\nb: !!binary aGk=\nc: !!set {x}", []string{"/a: The tag has no equivalent in JSON. Remove it.", "/b: The tag has no equivalent in JSON. Remove it.", "/c: The tag has no equivalent in JSON. Remove it."}},
		{"a: 0x1F\nb: 1_000\nc: .5\nd: +1\ne: .inf\nf: 017", slices.Repeat([]string{": The number is not valid in JSON. Write it as in JSON, or put it in quotes if it is text."}, 6)},
		{"a: !!int x\nb: !!bool 'true'\nc: !!null x", []string{"/a: The number is not valid in JSON. Write it as in JSON, or put it in quotes if it is text.", "/b: The value does not match its tag.", "/c: The value does not match its tag."}},
		{"a: &x {b: 1}\nc:\n  <<: *x", []string{"/c: Merge keys (<<) are not supported. Write out the members."}},
		{"1: a", []string{": The key at line 1 is not a string. Put it in quotes."}},
		{"? [a]\n: b", []string{": The key at line 1 is not a string. Put it in quotes."}},
		{nested, []string{strings.Repeat("/0", MaxDepth) + ": The YAML is nested more than 64 levels deep, the maximum."}},
		{"a: &x [*x]", []string{"/a" + strings.Repeat("/0", MaxDepth-1) + ": The YAML is nested more than 64 levels deep, the maximum."}},
	} {
		var n noted
		_, ok := ReadYAML([]byte(test.text), n.note)
		fine := !ok && len(n.faults) == len(test.faults)
		for i := range test.faults {
			fine = fine && strings.HasSuffix(n.faults[i], test.faults[i])
		}
		if !fine {
			t.Errorf("%q: %v\n%s", test.text, ok, strings.Join(n.faults, "\n"))
		}
		if strings.Contains(strings.Join(n.faults, ""), "secret") {
			t.Errorf("%q: a fault quotes the text", test.text)
		}
	}
	var n noted
	if v, ok := ReadYAML([]byte("a: 1\nb: {c: 1, c: 2}\na: 3"), n.note); !ok || string(v.Append(nil)) != `{"a":1,"b":{"c":1,"c":2},"a":3}` || !slices.Equal(n.faults, []string{"/b/c: " + duplicate, "/a: " + duplicate}) {
		t.Error(ok, n.faults)
	}
}

// Aliases of aliases cost no more than the bound.
func TestBillionLaughs(t *testing.T) {
	text := "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n"
	for i := range 9 {
		item := "*a" + string(rune('0'+i))
		text += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(item+",", 8) + item + "]\n"
	}
	var n noted
	if _, ok := ReadYAML([]byte(text), n.note); ok || len(n.faults) != 1 || !strings.Contains(n.faults[0], "aliases") {
		t.Errorf("%v %d: %.200q", ok, len(n.faults), n.faults)
	}
}

// FuzzYAMLOfJSON checks that a JSON document has the same value when it is read as YAML.
func FuzzYAMLOfJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e-3,true,null,"x\u00e9"]}`, `[[[[{}]]]]`, `{"a":1,"a":2}`, `{"~/":0,"":{}}`, `"\ud83d\ude00\u2028\u0000\u0085\ufeff"`,
		`{"yes":"no","<<":"~","2024-01-01":"0x1","null":"- a: b"}`, `-0`, `1E400`, ` "a\/b" `, "{\"a\" :\n\t1}", `["# a","&b","*c","!d","%e","@f","|",">","?"]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var inJSON noted
		want, ok := Read([]byte(text), Part{}, inJSON.note)
		if !ok || len(text) > 1000 { // a longer key must be written otherwise in YAML
			return
		}
		var inYAML noted
		got, ok := ReadYAML(appendYAML(nil, &want), inYAML.note)
		if !ok || !same(&got, &want) {
			t.Fatalf("%q is %s in YAML: %q", text, got.Append(nil), inYAML.faults)
		}
		if !slices.Equal(slices.Sorted(slices.Values(inYAML.faults)), slices.Sorted(slices.Values(inJSON.faults))) {
			t.Fatalf("%q has the faults %q in JSON and %q in YAML", text, inJSON.faults, inYAML.faults)
		}
	})
}

// same reports whether two values mean the same, however their strings are escaped.
func same(a, b *Value) bool {
	if a.Kind == '"' && b.Kind == '"' {
		return a.Text() == b.Text()
	}
	return a.Kind == b.Kind && (len(a.Items)+len(a.Members) > 0 || string(a.Append(nil)) == string(b.Append(nil))) &&
		slices.EqualFunc(a.Items, b.Items, func(a, b Value) bool { return same(&a, &b) }) &&
		slices.EqualFunc(a.Members, b.Members, func(a, b Member) bool { return a.Name == b.Name && same(&a.Value, &b.Value) })
}

// FuzzReadYAML checks that any text is read or refused, and that the result is JSON.
func FuzzReadYAML(f *testing.F) {
	for _, seed := range []string{"a: &x {b: 1}\nc: *x", "- - -", "? a\n: b", "a: |\n b", "!!binary x", "%YAML 1.1\n---\n", "\xff\xfea\x00", "a: 'b", "{a,b:", "&a [*a]", "*a", "\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n noted
		v, ok := ReadYAML([]byte(text), n.note)
		if !ok && n.faults == nil {
			t.Fatalf("%q is refused without a fault", text)
		}
		if !ok {
			return
		}
		var again noted
		if w, ok := Read(v.Append(nil), Part{}, again.note); !ok || string(w.Append(nil)) != string(v.Append(nil)) || len(again.faults) != len(n.faults) {
			t.Fatalf("%q is read as %s: %q, %q", text, v.Append(nil), n.faults, again.faults)
		}
	})
}

// appendYAML writes a value as YAML in the flow style, with every character of
// a string escaped that YAML could take for something else.
func appendYAML(b []byte, v *Value) []byte {
	quote := func(s string) {
		b = append(b, '"')
		for _, r := range s {
			if r >= ' ' && r <= '~' && r != '"' && r != '\\' {
				b = append(b, byte(r))
				continue
			}
			const digits = "0123456789abcdef"
			b = append(b, `\U`...)
			for shift := 28; shift >= 0; shift -= 4 {
				b = append(b, digits[r>>shift&15])
			}
		}
		b = append(b, '"')
	}
	switch v.Kind {
	case '{':
		b = append(b, '{')
		for i := range v.Members {
			quote(v.Members[i].Name)
			b = append(appendYAML(append(b, ": "...), &v.Members[i].Value), ", "...)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i := range v.Items {
			b = append(appendYAML(b, &v.Items[i]), ", "...)
		}
		return append(b, ']')
	case '"':
		quote(v.Text())
		return b
	}
	return append(b, v.Raw...)
}

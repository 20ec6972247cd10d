package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// noted keeps the faults of a document as "pointer: detail".
type noted struct{ faults []string }

func (n *noted) note(pointer, detail string) bool {
	n.faults = append(n.faults, pointer+": "+detail)
	return len(n.faults) < 1000
}

func TestValuesAreBounded(t *testing.T) {
	members := make([]string, maxMembers+2)
	for i := range members {
		members[i] = fmt.Sprintf(`"%d":0`, i)
	}
	manyMembers := "{" + strings.Join(members, ",") + "}"
	for _, test := range []struct {
		name, text string
		levels     int
		ok         bool
	}{
		{"as many as there may be", "[0" + strings.Repeat(",0", MaxValues-1) + "]", 0, true},
		{"one more", "[0" + strings.Repeat(",0", MaxValues) + "]", 0, false},
		{"a megabyte of nothing", "[" + strings.Repeat("[],", 1<<20/3) + "[]]", 0, false},
		{"not kept", "[" + strings.Repeat("[],", 1<<20/3) + "[]]", KeepNone, true},
		{"members", manyMembers, 0, false},
		{"members that are not kept", manyMembers, KeepNone, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n noted
			v, ok := Read([]byte(test.text), Part{Levels: test.levels}, n.note)
			if ok != test.ok || ok != (len(n.faults) == 0) || len(v.Items) > MaxValues {
				t.Errorf("%v, %d values, %q", ok, len(v.Items), n.faults)
			}
			if !ok && len(v.Items)+len(v.Members) > 0 {
				t.Errorf("%d values of a text that has too many were kept", len(v.Items)+len(v.Members))
			}
			if _, ok := ReadYAML([]byte(test.text), func(string, string) bool { return true }); ok && !test.ok && len(test.text) > 1<<19 {
				t.Error("the same is taken as YAML")
			}
		})
	}
}

func TestReadKeepsLevels(t *testing.T) {
	const text = `{"a":{"b":{"c":1,"c":2}},"d":[[1]]}`
	for levels, want := range map[int]string{0: `{"a":{"b":{"c":1,"c":2}},"d":[[1]]}`, 1: `{"a":{},"d":[]}`, 2: `{"a":{"b":{}},"d":[[]]}`, KeepNone: `{}`} {
		var n noted
		v, ok := Read([]byte(text), Part{At: "/x", Levels: levels}, n.note)
		if got := string(v.Append(nil)); !ok || got != want {
			t.Errorf("%d levels: %s, %v", levels, got, ok)
		}
		if string(v.Raw) != text || levels == 1 && string(v.Member("a").Raw) != `{"b":{"c":1,"c":2}}` {
			t.Errorf("%d levels: the texts are lost: %s", levels, v.Raw)
		}
		if !slices.Equal(n.faults, []string{"/x/a/b/c: " + duplicate}) {
			t.Errorf("%d levels: %q", levels, n.faults)
		}
	}
}

// The depth that a part may have is what its document leaves it.
func TestDepthOfAPart(t *testing.T) {
	text := []byte(strings.Repeat("[", MaxDepth-3) + strings.Repeat("]", MaxDepth-3))
	for depth, fine := range map[int]bool{0: true, 3: true, 4: false} {
		var n noted
		if _, ok := Read(text, Part{Depth: depth}, n.note); ok != fine || fine != (n.faults == nil) {
			t.Errorf("at depth %d: %v, %q", depth, ok, n.faults)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		text  string
		items []string
		fault string
	}{
		{`[]`, nil, ""},
		{` [ 1 , {"a":1,"a":2},"x"] `, []string{`1`, `{"a":1,"a":2}`, `"x"`}, ""},
		{`[1,2,3,4,x`, []string{"1", "2", "3", "4"}, ""}, // it stops at the one too many
		{`[1,{"a":[x]}]`, nil, "/1/a/0: Invalid JSON at byte 9: check the quotes, commas, brackets and escapes there, and that the text is UTF-8."},
		{`[1,`, nil, ": Invalid JSON at byte 3: it is incomplete."},
		{`[1] 2`, nil, ": Unexpected data after the JSON value, at byte 5. Send a single value."},
	} {
		var n noted
		items, ok := Split([]byte(test.text), 3, n.note)
		var got []string
		for _, item := range items {
			got = append(got, string(item))
		}
		if ok != (test.fault == "") || ok && !slices.Equal(got, test.items) {
			t.Errorf("%s: %q, %v", test.text, got, ok)
		}
		if fault := strings.Join(n.faults, "\n"); fault != test.fault {
			t.Errorf("%s: %s, want %s", test.text, fault, test.fault)
		}
	}
}

// What is read without a fault is what a strict decoder of another make takes.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e-3,true,null,"x\u00e9"]}`, `[[[[{}]]]]`, `{"a":1,"a":2}`, "\xff", `"\ud800"`, `{"a":`, `{}{}`, ` 1 `, `{"~/":0}`, "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var n noted
		v, ok := Read([]byte(text), Part{}, n.note)
		d := jsontext.NewDecoder(strings.NewReader(text))
		raw, strictErr := d.ReadValue()
		if strictErr == nil {
			raw = raw.Clone()
			if _, after := d.ReadToken(); !errors.Is(after, io.EOF) {
				strictErr = errors.New("more follows")
			}
		}
		if !ok && n.faults == nil {
			t.Fatalf("%q is refused without a fault", text)
		}
		fine := ok && n.faults == nil
		if tooDeep := strings.Count(text, "[")+strings.Count(text, "{") > MaxDepth; !tooDeep && fine != (strictErr == nil) {
			t.Fatalf("%q: faults %q; the decoder says %v", text, n.faults, strictErr)
		}
		if fine && strictErr == nil {
			compact := jsontext.Value(v.Append(nil))
			if raw.Compact() != nil || compact.Compact() != nil || !bytes.Equal(raw, compact) {
				t.Fatalf("%q was read as %s", text, compact)
			}
		}
	})
}

// BenchmarkRead measures a body of ordinary size against reading it into a map.
func BenchmarkRead(b *testing.B) {
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf(`"field%d":{"text":"some text of a field","number":%d,"list":[1,2,3],"flag":true}`, i, i))
	}
	text := []byte("{" + strings.Join(members, ",") + "}")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var n noted
		if _, ok := Read(text, Part{}, n.note); !ok {
			b.Fatal(n.faults)
		}
	}
}

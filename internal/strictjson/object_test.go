package strictjson

import (
	"slices"
	"strings"
	"testing"
)

func objectOf(t *testing.T, text string) (*Object, *noted) {
	t.Helper()
	n := new(noted)
	v, ok := Read([]byte(text), Part{}, n.note)
	if !ok || v.Kind != '{' {
		t.Fatal(n.faults)
	}
	return NewObject(&v, "", n.note), n
}

func TestObject(t *testing.T) {
	o, n := objectOf(t, `{"text":"a","yes":true,"count":3,"word":"red","none":null,"in/ner":{"x":1,"txet":2},"list":["a",2]}`)
	text, _ := o.Get("text")
	if s, ok := text.Text(); !ok || s != "a" {
		t.Error(s, ok)
	}
	yes, _ := o.Get("yes")
	if b, ok := yes.Boolean(); !ok || !b {
		t.Error(b, ok)
	}
	count, _ := o.Get("count")
	if i, ok := count.Integer(1, 3); !ok || i != 3 {
		t.Error(i, ok)
	}
	word, _ := o.Get("word")
	if w, ok := word.Choice("green", "red"); !ok || w != "red" {
		t.Error(w, ok)
	}
	if _, ok := o.Get("none"); !ok || o.Has("none") || o.Has("nothing") || !o.Has("text") {
		t.Error("null is told from nothing in the wrong place")
	}
	inner, _ := o.Get("in/ner")
	in, ok := inner.Object()
	if !ok || in.Pointer != "/in~1ner" {
		t.Fatal(ok)
	}
	if n.faults != nil {
		t.Fatal(n.faults)
	}
	in.Know("text")
	in.Know("y")
	in.RefuseUnknown()
	in.Need("z")
	list, _ := o.Get("list")
	for _, f := range list.Elements() {
		f.Text()
	}
	count.Text()
	count.Integer(4, 9)
	word.Integer(0, 9)
	word.Choice("green", "blue")
	word.Boolean()
	word.Object()
	o.RefuseUnknown()
	want := []string{
		"/in~1ner/x: Unknown field. Did you mean y?",
		"/in~1ner/txet: Unknown field. Did you mean text?",
		"/in~1ner/z: This field is required.",
		"/list/1: The element must be a string, not a number.",
		"/count: count must be a string, not a number.",
		"/count: count must be an integer between 4 and 9; got 3.",
		"/word: word must be an integer between 0 and 9.",
		"/word: word must be one of green, blue.",
		"/word: word must be true or false, not a string.",
		"/word: word must be an object, not a string.",
	}
	if !slices.Equal(n.faults, want) {
		t.Errorf("faults:\n%s", strings.Join(n.faults, "\n"))
	}
}

// RefuseUnknown stops comparing names when no more faults can be recorded.
func TestUnknownNamesEndWhereThereIsNoRoom(t *testing.T) {
	v := Value{Kind: '{'}
	for range 10 {
		v.Members = append(v.Members, Member{Name: "x", Value: String("")})
	}
	faults := 0
	NewObject(&v, "", func(string, string) bool { faults++; return faults < 3 }).RefuseUnknown()
	if faults != 3 {
		t.Errorf("%d faults are noted", faults)
	}
}

func TestChangeAValue(t *testing.T) {
	o, _ := objectOf(t, `{"a":1,"b":{"c":[true,{"d":"x"}]}}`)
	copied := o.Value.Clone()
	*o.Value.At("/b/c/1/d") = String("\xff")
	o.Value.Set("a", String("new"))
	o.Value.Set("e~/", Value{Kind: '{'})
	o.Value.Remove("nothing")
	if got := string(o.Value.Append(nil)); got != `{"a":"new","b":{"c":[true,{"d":"�"}]},"e~/":{}}` {
		t.Error(got)
	}
	o.Value.Remove("b")
	if o.Value.At("/b") != nil || o.Value.At("/e~0~1") == nil || o.Value.At("/a/0") != nil {
		t.Error(string(o.Value.Append(nil)))
	}
	if got := string(copied.Append(nil)); got != `{"a":1,"b":{"c":[true,{"d":"x"}]}}` || copied.At("/b/c/2") != nil || copied.At("/b/c/-1") != nil {
		t.Error(got)
	}
}

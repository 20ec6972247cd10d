package json

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// FuzzJSON holds what is accepted against two other readers of JSON, in every
// way that a document is read.
func FuzzJSON(f *testing.F) {
	for _, test := range faultyJSON {
		f.Add([]byte(test.data))
	}
	for _, seed := range []string{
		`[{"a":1,"b":{"c":"\u00e9"}},{"a":null}]`, `{"data":[{"x":[1,{"y":2}]}],"n":1e5}`, `{"x":{}}{"x":[]}`, "\xef\xbb\xbf{}",
		`{"a":[{"b":1},null],"a":[{"c":2}],"d":[[{"e":1}]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if encoding, _ := encodingOf(data); encoding != input.UTF8 {
			t.Skip("the other readers know UTF-8 alone")
		}
		values, right := acceptedElsewhere(data)
		for _, options := range []Options{{}, {Path: "$"}, {Path: "$.a[*]"}, {Path: "$[?@.a]"}, {Explode: "a"}, {Path: "$..a"}} {
			want := right && (values == 1 || options.Path != "$..a")
			_, err := readJSON(t, Open, data, options)
			if pastLimit(err) {
				continue
			}
			if want != (err == nil) {
				t.Errorf("%q with path %q: error %v, want it accepted: %v", data, options.Path, err, want)
			}
		}
	})
}

// pastLimit reports whether data was refused although it may be right.
func pastLimit(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "more than 10") || strings.Contains(err.Error(), "almost all cells"))
}

// acceptedElsewhere counts the values of data that is one value or several
// objects, and reports whether other readers find it right.
func acceptedElsewhere(data []byte) (values int, right bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	decoder := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	objects := true
	for {
		value, err := decoder.ReadValue()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || !stdjson.Valid(value) {
			return values, false
		}
		values++
		objects = objects && value.Kind() == '{'
	}
	return values, values == 1 || values > 1 && objects
}

// FuzzNDJSON holds the tables of lines against a plain way to make them.
func FuzzNDJSON(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n{\"b\":{\"c\":\"x\"}}\n", "{\"a\":{\"x\":1,\"y\":2},\"a\":{\"x\":3}}\n\n[1, 2]\r\n", "{\"a.b\":1,\"a\":{\"b\":2,\"\":{}}}", "1\n{}\nnull",
		"{\"\\u0061\":\"\\ud83d\\ude00\",\"a\":[\"\\u0062\"]}", "{\"a\":1} {\"a\":2}", "{\"a\":\n1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if encoding, _ := encodingOf(data); encoding != input.UTF8 {
			t.Skip("the other readers know UTF-8 alone")
		}
		got, err := readJSON(t, OpenLines, data, Options{})
		if pastLimit(err) {
			t.Skip()
		}
		want, right := linesElsewhere(data)
		if right != (err == nil) {
			t.Fatalf("%q: error %v, want it accepted: %v", data, err, right)
		}
		got.warnings = nil
		if right && want != nil && got.String() != want.String() {
			t.Errorf("%q\ngives\n%v\nwant\n%v", data, got, want)
		}
	})
}

// linesElsewhere reads lines with another reader of JSON. The table is nil
// where it cannot be told.
func linesElsewhere(data []byte) (table *jsonTable, right bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var records []jsonValue
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		line = bytes.Trim(line, " \t\r")
		if len(line) == 0 {
			continue
		}
		value := jsontext.Value(line)
		if !value.IsValid(jsontext.AllowDuplicateNames(true)) {
			return nil, false
		}
		record, ok := valueElsewhere(value)
		if !ok {
			return nil, linesValid(data)
		}
		if record.kind != '{' && record.text != "null" {
			record = jsonValue{kind: '{', members: []jsonMember{{valueName, record}}}
		}
		records = append(records, record)
	}
	if len(records) == 0 {
		return nil, false
	}
	made := flatTable(records)
	return &made, true
}

// linesValid reports whether every line is right.
func linesValid(data []byte) bool {
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		line = bytes.Trim(line, " \t\r")
		if len(line) > 0 && !jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true)) {
			return false
		}
	}
	return true
}

// valueElsewhere makes a test value of a text. It reports false for an array
// with repeated names, and for an object with one that has a name twice.
func valueElsewhere(text jsontext.Value) (jsonValue, bool) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	switch text.Kind() {
	case '"':
		token, err := decoder.ReadToken()
		return jsonValue{kind: 's', text: token.String()}, err == nil
	case '[':
		compact := text.Clone()
		ok := text.IsValid() && compact.Compact() == nil
		return jsonValue{kind: 'v', text: string(compact)}, ok
	case '{':
		value := jsonValue{kind: '{'}
		if !text.IsValid() {
			return value, false
		}
		if _, err := decoder.ReadToken(); err != nil {
			return value, false
		}
		for decoder.PeekKind() == '"' {
			name, err := decoder.ReadToken()
			if err != nil {
				return value, false
			}
			member := jsonMember{name: name.String()}
			raw, err := decoder.ReadValue()
			if err != nil {
				return value, false
			}
			var ok bool
			if member.value, ok = valueElsewhere(raw.Clone()); !ok {
				return value, false
			}
			value.members = append(value.members, member)
		}
		return value, true
	}
	return jsonValue{kind: 'v', text: string(text)}, true
}

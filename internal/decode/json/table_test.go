package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

func TestJSONWarnsOfManyRepeatedNames(t *testing.T) {
	var b strings.Builder
	for i := range maxKeyWarnings + 5 {
		fmt.Fprintf(&b, "{\"c%02d\":1,\"c%02d\":2}\n", i, i)
	}
	table, err := readJSON(t, OpenLines, []byte(b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.warnings) != maxKeyWarnings+1 {
		t.Fatalf("%d warnings", len(table.warnings))
	}
	want := feedmill.Warning{
		Code: feedmill.WarnKeys, Count: 5, FirstRow: maxKeyWarnings + 1,
		Detail: "Duplicate keys in 5 more columns; the last value was used. Remove the duplicates at the source.",
	}
	if diff := cmp.Diff(want, table.warnings[maxKeyWarnings]); diff != "" {
		t.Error(diff)
	}
}

func TestJSONTables(t *testing.T) {
	for _, test := range []struct {
		name, format, data string
		options            Options
		want               string
	}{
		{
			"root array", "json", `[{"a":1,"b":"x"},{"a":2,"b":null}]`,
			Options{},
			"a | b\n1 \"x\"\n2 null\n",
		},
		{
			"root object is one record", "json", `{"a":1,"b":[1,2],"c":{"d":true}}`,
			Options{},
			"a | b | c.d\n1 [1,2] true\n",
		},
		{
			"root scalar", "json", ` "text" `,
			Options{},
			"value\n\"text\"\n",
		},
		{
			"array of objects inside", "json", `{"ok":true,"data":{"items":[{"a":1},{"a":2}]},"next":null}`,
			Options{},
			"a\n1\n2\n",
		},
		{
			"the array that is the most bytes", "json", `{"x":{"deep":[{"a":1},{"a":2},{"a":3}]},"y":[{"b":1}]}`,
			Options{},
			"a\n1\n2\n3\n! other-records \"\" 1 times from row 0: The records were read from $.x.deep[*]. The document also has records at $.y[*]; set path to read them instead.\n",
		},
		{
			"the first of two that are as many bytes", "json", `{"x":[{"a":1}],"y":[{"b":1},{"b":2}],"z":[{"c":1},{"c":2}]}`,
			Options{},
			"b\n1\n2\n! other-records \"\" 2 times from row 0: The records were read from $.y[*]. The document also has records at $.x[*], $.z[*]; set path to read them instead.\n",
		},
		{
			"a longer array deeper down does not count", "json", `{"y":[{"b":[{"c":1},{"c":2}]}]}`,
			Options{},
			"b\n[{\"c\":1},{\"c\":2}]\n",
		},
		{
			"an empty array and one of scalars do not count", "json", `{"a":[],"b":[1,2,3],"c":{"d":[{"e":1}]}}`,
			Options{},
			"e\n1\n",
		},
		{
			"a mixed array does not count", "json", `{"a":[{"x":1},2],"b":{"c":[{"e":1},null]}}`,
			Options{},
			"e\n1\n~\n! mixed-records \"value\" 1 times from row 2: Some records are not objects. Their values are in the column value. Set path to read only objects.\n",
		},
		{
			"an array in an array", "json", `{"rows":[[1],[{"a":1},{"a":2}]]}`,
			Options{},
			"a\n1\n2\n",
		},
		{
			"only deep arrays", "json", `{"a":{"b":{"c":{"d":{"e":[{"f":1}]}}}}}`,
			Options{},
			"f\n1\n",
		},
		{
			"no records", "json", `[]`,
			Options{},
			"\n! no-rows \"\" 1 times from row 0: The data has no records.\n",
		},
		{
			"objects in a row", "json", `{"a":1} {"a":2}{"b":3}` + "\n",
			Options{},
			"a | b\n1 ~\n2 ~\n~ 3\n",
		},
		{
			"NDJSON taken for JSON", "json", "{\"a\":[{\"b\":1}]}\n{\"a\":2}\n",
			Options{},
			"a\n[{\"b\":1}]\n2\n",
		},
		{
			"lines", "ndjson", "{\"a\":1}\n\n  \r\n{\"a\":2}\r\n{\"b\":3}",
			Options{},
			"a | b\n1 ~\n2 ~\n~ 3\n",
		},
		{
			"lines that are no objects", "ndjson", "1\n\"x\"\n[1, 2]\ntrue\nnull\n",
			Options{},
			"value\n1\n\"x\"\n[1,2]\ntrue\n~\n",
		},
		{
			"byte order mark", "ndjson", "\xef\xbb\xbf{\"a\":1}",
			Options{},
			"a\n1\n",
		},
		{
			"numbers keep their digits", "json", `[1.0,1e5,-0,0.10,123456789012345678901234567890,1E-400,12345.67890e+10]`,
			Options{},
			"value\n1.0\n1e5\n-0\n0.10\n123456789012345678901234567890\n1E-400\n12345.67890e+10\n",
		},
		{
			"escapes", "json", `["\"\\\/\b\f\n\r\t","\u00e9\u20AC\ud83d\ude00","é€😀","\u0000"]`,
			Options{},
			"value\n\"\\\"\\\\/\\b\\f\\n\\r\\t\"\n\"é€😀\"\n\"é€😀\"\n\"\\x00\"\n",
		},
		{
			"escapes in names", "json", `[{"\u0061":1,"b\n":2},{"a":3,"b\u000a":4}]`,
			Options{},
			"a | b\n\n1 2\n3 4\n",
		},
		{
			"an empty string is no null", "json", `[{"a":"","b":null}]`,
			Options{},
			"a | b\n\"\" null\n",
		},
		{
			"columns in the order of first appearance", "json", `[{"b":1},{"a":2,"b":3},{"c":4,"a":5}]`,
			Options{},
			"b | a | c\n1 ~ ~\n3 2 ~\n~ 5 4\n",
		},
		{
			"objects are flattened", "json", `[{"a":{"b":{"c":1},"d":2},"e":3}]`,
			Options{},
			"a.b.c | a.d | e\n1 2 3\n",
		},
		{
			"an empty object is kept", "json", `[{"a":{ },"b":{"c":{}}}]`,
			Options{},
			"a | b.c\n{} {}\n",
		},
		{
			"a value and an object under one name", "json", `[{"a":1},{"a":{"b":2}},{"a":null}]`,
			Options{},
			"a | a.b\n1 ~\n~ 2\nnull ~\n",
		},
		{
			"a name with a dot is a column of its own", "json", `[{"a":{"b":1},"a.b":2},{"a.b":3}]`,
			Options{},
			"a.b | a.b\n1 2\n~ 3\n",
		},
		{
			"an empty name", "json", `[{"":1,"a":{"":2}}]`,
			Options{},
			" | a.\n1 2\n",
		},
		{
			"arrays stay JSON, without blanks", "json", `[{"a":[ 1 , {"b" : "x y" , "c":[ ]} ]}]`,
			Options{},
			"a\n[1,{\"b\":\"x y\",\"c\":[]}]\n",
		},
		{
			"arrays keep their escapes", "json", `[{"a":["\n\u0041\\"]}]`,
			Options{},
			"a\n[\"\\n\\u0041\\\\\"]\n",
		},
		{
			"the last of repeated names counts", "json", `[{"a":0},{"a":1,"a":2},{"a":1,"b":5,"a":null,"a":3}]`,
			Options{},
			"a | b\n0 ~\n2 ~\n3 5\n! duplicate-key \"a\" 3 times from row 2: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"a repeated object is replaced, not merged", "json", `[{"a":{"x":1,"z":{"q":1}},"a":{"y":2,"z":{"r":3}}},{"a":{"x":1},"a":5},{"a":5,"a":{"x":1}}]`,
			Options{},
			"a.x | a.z.q | a.y | a.z.r | a\n~ ~ 2 3 ~\n~ ~ ~ ~ 5\n1 ~ ~ ~ ~\n" +
				"! duplicate-key \"a\" 3 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"repeated names in an array", "json", `[{"a":[{"x":1, "y":[{"z":1,"z":2}], "x":{"q":1,"q":2}, "\u0078":3}]}]`,
			Options{},
			"a\n[{\"y\":[{\"z\":2}],\"\\u0078\":3}]\n! duplicate-key \"a\" 4 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"many names in an array", "json", `[[{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"a":2,"b":2,"a":3}]]`,
			Options{},
			"value\n[{\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"b\":2,\"a\":3}]\n" +
				"! duplicate-key \"value\" 3 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"a repeated name on the way to the records", "json", `{"data":[{"a":1},{"a":2}],"x":{"data":[]},"data":[{"a":3}]}`,
			Options{},
			"a\n3\n! duplicate-key \"\" 1 times from row 0: Duplicate key on the path to the records; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"mixed records", "json", `[{"value":1},2,[3],null,{"b":4}]`,
			Options{},
			"value | b\n1 ~\n2 ~\n[3] ~\n~ ~\n~ 4\n! mixed-records \"value\" 3 times from row 2: Some records are not objects. Their values are in the column value. Set path to read only objects.\n",
		},
		{
			"only nulls", "json", `[null,null]`,
			Options{},
			"value\n~\n~\n",
		},
		{
			"only empty objects", "json", `[{},{}]`,
			Options{},
			"value\n~\n~\n",
		},
		{
			"path", "json", `{"data":{"items":[{"a":1},{"a":2}]},"items":[{"b":1}]}`,
			Options{Path: "$.data.items[*]"},
			"a\n1\n2\n",
		},
		{
			"a list without records", "json", `{"total":0,"data":[]}`,
			Options{},
			"\n! no-rows \"\" 1 times from row 0: There are no records at $.data[*], so no rows were imported. Set path=$ to read the whole document as one record.\n",
		},
		{
			"a list without records, deep", "json", `{"id":1,"page":2,"size":3,"result":{"id":"x","items":[]}}`,
			Options{},
			"\n! no-rows \"\" 1 times from row 0: There are no records at $.result.items[*], so no rows were imported. Set path=$ to read the whole document as one record.\n",
		},
		{
			"an invoice without lines", "json", `{"id":7,"date":"2026-01-01","customer":"x","items":[]}`,
			Options{},
			"id | date | customer | items\n7 \"2026-01-01\" \"x\" []\n",
		},
		{
			"an empty array that is no list", "json", `{"name":"x","tags":[]}`,
			Options{},
			"name | tags\n\"x\" []\n",
		},
		{
			"path to nothing", "json", `{"data":[]}`,
			Options{Path: "$.items[*]"},
			"\n! no-rows \"\" 1 times from row 0: The path $.items[*] selects nothing, so no rows were imported. Check path against the data.\n",
		},
		{
			"path to an object", "json", `{"data":{"a":1}}`,
			Options{Path: "$.data"},
			"a\n1\n",
		},
		{
			"path to the root", "json", `{"data":[{"a":1}]}`,
			Options{Path: "$"},
			"data\n[{\"a\":1}]\n",
		},
		{
			"path over the members of an object", "json", `{"x":{"a":1},"y":{"a":2}}`,
			Options{Path: "$.*"},
			"a\n1\n2\n",
		},
		{
			"path through several arrays", "json", `{"pages":[{"items":[{"a":1}]},{"n":0},{"items":[{"a":2},{"a":3}]}]}`,
			Options{Path: "$.pages[*].items[*]"},
			"a\n1\n2\n3\n",
		},
		{
			"path with a slice", "json", `[1,2,3,4,5,6]`,
			Options{Path: "$[1:5:2]"},
			"value\n2\n4\n",
		},
		{
			"path with a filter", "json", `{"items":[{"a":1,"on":true},{"a":2},{"a":3,"on":true,"s":"\u0041"}]}`,
			Options{Path: "$.items[?@.on == true]"},
			"a | on | s\n1 true ~\n3 true \"A\"\n",
		},
		{
			"path that needs the whole document", "json", `{"x":{"items":[{"a":1},{"a":2}]},"y":[{"items":[{"a":3}]}],"min":2}`,
			Options{Path: "$..items[?@.a >= $.min]"},
			"a\n2\n3\n",
		},
		{
			"path that selects values in each other", "json", `{"x":{"a":"\n","x":{"a":2}}}`,
			Options{Path: "$..x"},
			"a | x.a\n\"\\n\" 2\n2 ~\n",
		},
		{
			"path with a repeated name", "json", `{"d":[1],"e":{"d":[5]},"d":[2,3]}`,
			Options{Path: "$.d[*]"},
			"value\n2\n3\n! duplicate-key \"\" 1 times from row 0: Duplicate key on the path to the records; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"path in objects in a row", "json", `{"d":[1]}{"d":[2,3]}`,
			Options{Path: "$.d[*]"},
			"value\n1\n2\n3\n",
		},
		{
			"path in lines", "ndjson", "{\"d\":[{\"a\":1}]}\n{}\n{\"d\":[{\"a\":2},{\"a\":\"\\u0042\"}]}\n[1]",
			Options{Path: "$.d[*]"},
			"a\n1\n2\n\"B\"\n",
		},
		{
			"explode", "json", `[{"id":1,"lines":[{"sku":"a","n":1},{"sku":"b"}],"at":"x"},{"id":2,"lines":[]},{"id":3},{"id":4,"lines":null}]`,
			Options{Explode: "$.lines[*]"},
			"id | lines.sku | lines.n | at\n1 \"a\" 1 \"x\"\n1 \"b\" ~ \"x\"\n2 ~ ~ ~\n3 ~ ~ ~\n4 ~ ~ ~\n",
		},
		{
			"explode without dollar and star", "ndjson", "{\"o\":{\"lines\":[1,\"x\",[2, 3],{\"a\":4},null]},\"id\":1}\n",
			Options{Explode: "o.lines"},
			"o.lines | o.lines.a | id\n1 ~ 1\n\"x\" ~ 1\n[2,3] ~ 1\n~ 4 1\nnull ~ 1\n",
		},
		{
			"explode a value that is no array", "json", `[{"a":{"b":1},"c":1},{"a":7,"c":2}]`,
			Options{Explode: "$.a"},
			"a.b | c | a\n1 1 ~\n~ 2 7\n",
		},
		{
			"explode twice", "json", `[{"c":1,"orders":[{"n":1,"lines":[{"s":"a"},{"s":"b"}]},{"n":2}],"z":9}]`,
			Options{Explode: "$.orders[*].lines[*]"},
			"c | orders.n | orders.lines.s | z\n1 1 \"a\" 9\n1 1 \"b\" 9\n1 2 ~ 9\n",
		},
		{
			"explode with repeated names", "json", `[{"l":[1,2],"x":1,"l":[3,{"a":1,"a":2}],"x":2}]`,
			Options{Explode: "$.l"},
			"l | x | l.a\n3 2 ~\n~ 2 2\n" +
				"! duplicate-key \"l\" 1 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n" +
				"! duplicate-key \"l.a\" 1 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n" +
				"! duplicate-key \"x\" 1 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
		{
			"explode with a repeated object around", "json", `[{"o":{"x":1,"l":[1]},"o":{"l":[2,3]}}]`,
			Options{Explode: "$.o.l"},
			"o.x | o.l\n~ 2\n~ 3\n! duplicate-key \"o\" 1 times from row 1: Duplicate key in a JSON object; the last value was used. Remove the duplicates at the source.\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readJSON(t, openerOf(test.format), []byte(test.data), test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

package jsonpath

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const store = `{ "store": {
	"book": [
		{ "category": "reference", "author": "Nigel Rees", "title": "Sayings of the Century", "price": 8.95 },
		{ "category": "fiction", "author": "Evelyn Waugh", "title": "Sword of Honour", "price": 12.99 },
		{ "category": "fiction", "author": "Herman Melville", "title": "Moby Dick", "isbn": "0-553-21311-3", "price": 8.99 },
		{ "category": "fiction", "author": "J. R. R. Tolkien", "title": "The Lord of the Rings", "isbn": "0-395-19395-8", "price": 22.99 }
	],
	"bicycle": { "color": "red", "price": 399 }
} }`

const filtered = `{
	"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
	"o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}},
	"e": "f"
}`

const compared = `{"obj": {"x": "y"}, "arr": [2, 3], "n": null, "t": true, "big": 9007199254740993, "bigger": 9007199254740994}`

// TestSelect has the examples of RFC 9535, and what they leave open.
func TestSelect(t *testing.T) {
	for _, test := range []struct {
		path, document, want string
	}{
		// 1.5, table 2
		{"$.store.book[*].author", store, `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{"$..author", store, `"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"`},
		{"$.store..price", store, `8.95 12.99 8.99 22.99 399`},
		{"$..book[2].title", store, `"Moby Dick"`},
		{"$..book[2].publisher", store, ``},
		{"$..book[-1].author", store, `"J. R. R. Tolkien"`},
		{"$..book[0,1].price", store, `8.95 12.99`},
		{"$..book[:2].price", store, `8.95 12.99`},
		{"$..book[?@.isbn].price", store, `8.99 22.99`},
		{"$..book[?@.price<10].title", store, `"Sayings of the Century" "Moby Dick"`},
		// 2.2 and 2.3.1
		{"$", `{"k": "v"}`, `{"k": "v"}`},
		{"$.o['j j']", `{"o": {"j j": {"k.k": 3}}}`, `{"k.k": 3}`},
		{"$.o['j j']['k.k']", `{"o": {"j j": {"k.k": 3}}}`, `3`},
		{`$.o["j j"]["k.k"]`, `{"o": {"j j": {"k.k": 3}}}`, `3`},
		{`$["'"]["@"]`, `{"'": {"@": 2}}`, `2`},
		{`$['☺']`, `{"☺": 1}`, `1`},
		{`$.☺`, `{"☺": 1}`, `1`},
		{`$['\u263a', "\uD83D\uDE00", '\'', "\"", '\/\\\n']`, `{"☺": 1, "😀": 2, "'": 3, "\"": 4, "/\\\n": 5}`, `1 2 3 4 5`},
		{`$['']`, `{"": 7}`, `7`},
		{"$.a", `[1]`, ``},
		{"$[0]", `{"0": 1}`, ``},
		// 2.3.2
		{"$[*]", `{"o": {"j": 1, "k": 2}, "a": [5, 3]}`, `{"j": 1, "k": 2} [5, 3]`},
		{"$.o[*, *]", `{"o": {"j": 1, "k": 2}}`, `1 2 1 2`},
		{"$.a[*]", `{"a": [5, 3]}`, `5 3`},
		{"$.*", `"text"`, ``},
		// 2.3.3 and 2.3.4
		{"$[1]", `["a","b"]`, `"b"`},
		{"$[-2]", `["a","b"]`, `"a"`},
		{"$[-3]", `["a","b"]`, ``},
		{"$[2]", `["a","b"]`, ``},
		{"$[1:3]", `["a","b","c","d","e","f","g"]`, `"b" "c"`},
		{"$[5:]", `["a","b","c","d","e","f","g"]`, `"f" "g"`},
		{"$[1:5:2]", `["a","b","c","d","e","f","g"]`, `"b" "d"`},
		{"$[5:1:-2]", `["a","b","c","d","e","f","g"]`, `"f" "d"`},
		{"$[::-1]", `["a","b","c"]`, `"c" "b" "a"`},
		{"$[:]", `[1,2]`, `1 2`},
		{"$[::]", `[1,2]`, `1 2`},
		{"$[ 1 : 3 : 1 ]", `[1,2,3,4]`, `2 3`},
		{"$[0:3:0]", `[1,2,3]`, ``},
		{"$[-2:]", `[1,2,3]`, `2 3`},
		{"$[:-2]", `[1,2,3]`, `1`},
		{"$[-9007199254740991:9007199254740991:9007199254740991]", `[1,2,3]`, `1`},
		{"$[9007199254740991:-9007199254740991:-9007199254740991]", `[1,2,3]`, `3`},
		{"$[3:1]", `[1,2,3]`, ``},
		{"$[::2]", `[]`, ``},
		{"$[::-2]", `[]`, ``},
		{"$[-1:0:-1]", `[1,2,3]`, `3 2`},
		// 2.3.5.3, comparisons
		{"$.obj[?$.absent1 == $.absent2]", compared, `"y"`},
		{"$.obj[?$.absent1 <= $.absent2]", compared, `"y"`},
		{"$.obj[?$.absent == 'g']", compared, ``},
		{"$.obj[?$.absent1 != $.absent2]", compared, ``},
		{"$.obj[?$.absent != 'g']", compared, `"y"`},
		{"$.obj[?1 <= 2]", compared, `"y"`},
		{"$.obj[?1 > 2]", compared, ``},
		{"$.obj[?13 == '13']", compared, ``},
		{"$.obj[?'a' <= 'b']", compared, `"y"`},
		{"$.obj[?'a' > 'b']", compared, ``},
		{"$.obj[?$.obj == $.arr]", compared, ``},
		{"$.obj[?$.obj != $.arr]", compared, `"y"`},
		{"$.obj[?$.obj == $.obj]", compared, `"y"`},
		{"$.obj[?$.arr == $.arr]", compared, `"y"`},
		{"$.obj[?$.obj <= $.arr]", compared, ``},
		{"$.obj[?$.arr <= $.arr]", compared, `"y"`},
		{"$.obj[?1 <= $.arr]", compared, ``},
		{"$.obj[?true <= true]", compared, `"y"`},
		{"$.obj[?true > true]", compared, ``},
		{"$.obj[?$.n == null]", compared, `"y"`},
		{"$.obj[?$.absent == null]", compared, ``},
		{"$.obj[?$.t == true && $.t != false]", compared, `"y"`},
		{"$.obj[?$.big == $.bigger]", compared, ``},
		{"$.obj[?$.big < $.bigger]", compared, `"y"`},
		{"$[?@ == 1]", `[1, 1.0, 10e-1, 0.1E+1, "1", -1, 1.00001]`, `1 1.0 10e-1 0.1E+1`},
		{"$[?@ < 1e99999999999999999999]", `[1e99999999999999999998, 5, 1e-99999999999999999999]`, `5 1e-99999999999999999999`},
		{"$[?@ == 1e-2]", `[0.01, 0.010e0, 1E-2, 1e+2]`, `0.01 0.010e0 1E-2`},
		{"$[?@.a == @.b]", `[{"a":{"x":1},"b":{"y":1}},{"a":{"x":1},"b":{"x":1,"y":1}},{"a":[1],"b":[1,2]},{"a":{"x":2},"b":{"x":1}}]`, ``},
		{`$['\b\f\r\t']`, `{"\b\f\r\t": 1}`, `1`},
		{"$[?length(@) == 1]", `[1, null, true, "a"]`, `"a"`},
		{"$[?@ == 0]", `[0, -0, 0.00, 0e9, 1e-400]`, `0 -0 0.00 0e9`},
		{"$[?@ >= -1.5]", `[-2, -1.5, -1.49, 0, 1e999, -1e999]`, `-1.5 -1.49 0 1e999`},
		{"$[?@.a == @.b]", `[{"a":{"x":1,"y":[2]},"b":{"y":[2.0],"x":1}},{"a":[1,2],"b":[2,1]}]`, `{"a":{"x":1,"y":[2]},"b":{"y":[2.0],"x":1}}`},
		// 2.3.5.3, filters
		{"$.a[?@.b == 'kilo']", filtered, `{"b": "kilo"}`},
		{"$.a[?(@.b == 'kilo')]", filtered, `{"b": "kilo"}`},
		{"$.a[?@>3.5]", filtered, `5 4 6`},
		{"$.a[?@.b]", filtered, `{"b": "j"} {"b": "k"} {"b": {}} {"b": "kilo"}`},
		{"$[?@.*]", filtered, `[3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}] {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}`},
		{"$[?@[?@.b]]", filtered, `[3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]`},
		{"$.o[?@<3, ?@<3]", filtered, `1 2 1 2`},
		{"$.a[?@<2 || @.b == 'k']", filtered, `1 {"b": "k"}`},
		{"$.a[?match(@.b, '[jk]')]", filtered, `{"b": "j"} {"b": "k"}`},
		{"$.a[?search(@.b, '[jk]')]", filtered, `{"b": "j"} {"b": "k"} {"b": "kilo"}`},
		{"$.o[?@>1 && @<4]", filtered, `2 3`},
		{"$.o[?@.u || @.x]", filtered, `{"u": 6}`},
		{"$.a[?@.b == $.x]", filtered, `3 5 1 2 4 6`},
		{"$.a[?@ == @]", filtered, `3 5 1 2 4 6 {"b": "j"} {"b": "k"} {"b": {}} {"b": "kilo"}`},
		{"$.a[?!@.b]", filtered, `3 5 1 2 4 6`},
		{"$.a[?!(@.b == 'j' || @ < 6)]", filtered, `6 {"b": "k"} {"b": {}} {"b": "kilo"}`},
		{"$.a[? @.b == 'j' || @ == 1 && @ == 2 ]", filtered, `{"b": "j"}`},
		// 2.4, functions
		{"$[?length(@) == 3]", `["abc", "☺☺☺", [1,2,3], {"a":1,"b":2,"c":3}, 3, null, "ab"]`, `"abc" "☺☺☺" [1,2,3] {"a":1,"b":2,"c":3}`},
		{"$[?count(@.*) == 1]", `[[1], [1,2], {"a":1}, 1]`, `[1] {"a":1}`},
		{"$[?count(@['a','b']) > 1]", `[{"a":1,"b":2}, {"a":1}]`, `{"a":1,"b":2}`},
		{"$[?value(@..color) == 'red']", `[{"x":{"color":"red"}}, {"color":"red","y":{"color":"red"}}]`, `{"x":{"color":"red"}}`},
		{"$[?match(@, $[0])]", `["a.", "ab", "abc", "("]`, `"a." "ab"`},
		{"$[?match(@, $[0])]", `["(", "a"]`, ``},
		{"$[?length(value($..x)) == 2]", `{"a":{"x":"ab"}}`, `{"x":"ab"}`},
		{"$[?match( @ , 'a' )]", `["a"]`, `"a"`},
		// 2.5.1 and 2.5.2
		{"$[0, 3]", `["a","b","c","d","e","f","g"]`, `"a" "d"`},
		{"$[0:2, 5]", `["a","b","c","d","e","f","g"]`, `"a" "b" "f"`},
		{"$[0, 0]", `["a","b"]`, `"a" "a"`},
		{"$..j", `{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}`, `1 4`},
		{"$..[0]", `{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}`, `5 {"j": 4}`},
		{"$.a..[0, 1]", `{"a": [5, 3, [{"j": 4}, {"k": 6}]]}`, `5 3 {"j": 4} {"k": 6}`},
		{"$..*", `{"a":[1]}`, `[1] 1`},
		{"$..x", `{"a":{"x":1},"x":2}`, `2 1`},
		// 2.6, null
		{"$.a", `{"a": null, "b": [null], "c": [{}], "null": 1}`, `null`},
		{"$.a[0]", `{"a": null}`, ``},
		{"$.b[?@]", `{"b": [null]}`, `null`},
		{"$.b[?@==null]", `{"b": [null]}`, `null`},
		{"$.c[?@.d==null]", `{"c": [{}]}`, ``},
		{"$.null", `{"null": 1}`, `1`},
		// blanks
		{"$ .a [ 'b' ]\n.c", `{"a":{"b":{"c":1}}}`, `1`},
		{"$[?@.a\n==\t1]", `[{"a":1}]`, `{"a":1}`},
	} {
		if diff := cmp.Diff(test.want, strings.Join(selected(t, test.path, test.document), " ")); diff != "" {
			t.Errorf("%s of %.60s (-want +got):\n%s", test.path, test.document, diff)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		function, pattern, text string
		want                    bool
	}{
		{"match", `a.c`, "abc", true},
		{"match", `a.c`, "a\u2028c", true},
		{"match", `a.c`, `a\nc`, false},
		{"match", `a.c`, `a\rc`, false},
		{"match", `a[.b]c`, "axc", false},
		{"match", `a\\.c`, "axc", false},
		{"match", `a\\.c`, "a.c", true},
		{"match", `ab|c`, "abx", false},
		{"match", `^ab.*`, "abc", true},
		{"match", `.*bc$`, "abc", true},
		{"match", `[^a]{2,3}`, "bcd", true},
		{"match", `\\p{Lu}\\P{Lu}`, "Aa", true},
		{"match", `b`, "abc", false},
		{"search", `b`, "abc", true},
		{"search", `[a\\-]`, "x-x", true},
		{"match", `[\\].]`, "]", true},
	} {
		path := "$[?" + test.function + "(@, '" + test.pattern + "')]"
		if got := len(selected(t, path, `["`+test.text+`"]`)) == 1; got != test.want {
			t.Errorf("%s(%q, %q) is %v", test.function, test.text, test.pattern, got)
		}
	}
}

func TestSelectIsBounded(t *testing.T) {
	p, err := Parse("$..[?@..[?@..[?@..[?@..*]]]]")
	if err != nil {
		t.Fatal(err)
	}
	tree := readTree(t, strings.Repeat("[1,", 100)+"1"+strings.Repeat("]", 100))
	if _, err := p.Select(boundedWork(t), tree); !errors.Is(err, ErrTooMuchWork) {
		t.Errorf("error %v, want %v", err, ErrTooMuchWork)
	}
}

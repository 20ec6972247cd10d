package jstext

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	cases := map[string][][2]string{
		"white space": {
			{" \t\r\n[ 1 , { \"a\" : null } ]\n", `[1,{"a":null}]`},
			{`[ ]`, `[]`},
			{`{ }`, `{}`},
			{` true `, `true`},
			{`false`, `false`},
		},
		"key order": {
			{`{"b":1,"a":2}`, `{"b":1,"a":2}`},
			{`{"b":1,"10":2,"9":3,"a":4}`, `{"9":3,"10":2,"b":1,"a":4}`},
			{`{"4294967295":1,"4294967294":2}`, `{"4294967294":2,"4294967295":1}`},
			{`{"z":1,"4294967296":2,"99999999999":3}`, `{"z":1,"4294967296":2,"99999999999":3}`},
			{`{"-1":1,"01":2,"1.5":3,"1e3":4,"-0":5,"00":6,"":7," 1":8}`, `{"-1":1,"01":2,"1.5":3,"1e3":4,"-0":5,"00":6,"":7," 1":8}`},
			{`{"a":1,"0":2}`, `{"0":2,"a":1}`},
			{`{"a":1,"\u0031":2}`, `{"1":2,"a":1}`},
			{`{"__proto__":{"b":1,"2":1},"7":1}`, `{"7":1,"__proto__":{"2":1,"b":1}}`},
			{`{"x":{"b":[{"q":0,"3":1}],"1":{}},"5":{"y":1,"2":"\u0041"}}`, `{"5":{"2":"A","y":1},"x":{"1":{},"b":[{"3":1,"q":0}]}}`},
			{`{"1":1,"2":{"a":1,"0":2},"3":3}`, `{"1":1,"2":{"0":2,"a":1},"3":3}`},
		},
		"strings": {
			{`"\u0022\u005c\u002f\u0008\u000c\u000a\u000d\u0009"`, `"\"\\/\b\f\n\r\t"`},
			{`"\"\\\/\b\f\n\r\t"`, `"\"\\/\b\f\n\r\t"`},
			{`"\u0000\u001F\u007F"`, `"\u0000\u001f` + "\x7f\""},
			{`"\u2028\u2029"`, "\"\u2028\u2029\""},
			{"\"\u2028\u2029\x7f\"", "\"\u2028\u2029\x7f\""},
			{`"\uD83D\uDE00 \ud83d\ude00"`, `"😀 😀"`},
			{`"\u00e9\uFFFD\uffff<>&'"`, "\"é\uFFFD\uFFFF<>&'\""},
			{`"a\\u0041"`, `"a\\u0041"`},
			{`""`, `""`},
		},
		"numbers": {
			{`-0`, `0`},
			{`-0.0`, `0`},
			{`0e5`, `0`},
			{`0.000`, `0`},
			{`-0E-999999999999999999999`, `0`},
			{`0e999999999999999999999`, `0`},
			{`1.0`, `1`},
			{`-1.50`, `-1.5`},
			{`1e-06`, `0.000001`},
			{`0.0000001`, `1e-7`},
			{`1.5E-7`, `1.5e-7`},
			{`1E3`, `1000`},
			{`123456e-3`, `123.456`},
			{`1e20`, `100000000000000000000`},
			{`1e21`, `1e+21`},
			{`1000000000000000000000`, `1e+21`},
			{`123456789012345680000`, `123456789012345680000`},
			{`1234567890123456800000`, `1.2345678901234568e+21`},
			{`9007199254740992`, `9007199254740992`},
			{`0.30000000000000004`, `0.30000000000000004`},
			{`1.7976931348623157e308`, `1.7976931348623157e+308`},
			{`5e-324`, `5e-324`},
			{`5.0E-0324`, `5e-324`},
			{`2.2250738585072014e-308`, `2.2250738585072014e-308`},
			{`1` + strings.Repeat("0", 400) + `e-400`, `1`},
			{`0.` + strings.Repeat("0", 400) + `1e401`, `1`},
		},
		"numbers that JavaScript cannot hold": {
			{`9007199254740993`, `9007199254740993`},
			{`-9007199254740993.0`, `-9007199254740993.0`},
			{`12345678901234567890`, `12345678901234567890`},
			{`0.1000000000000000055511151231257827`, `0.1000000000000000055511151231257827`},
			{`0.3000000000000000444`, `0.3000000000000000444`},
			{`1e400`, `1e400`},
			{`-1E+999999999`, `-1E+999999999`},
			{`1e-999999999999999999999`, `1e-999999999999999999999`},
			{`1.8e308`, `1.8e308`},
			{`4.9e-324`, `4.9e-324`},
			{`1e-324`, `1e-324`},
		},
	}
	for name, table := range cases {
		t.Run(name, func(t *testing.T) {
			for _, c := range table {
				got, err := Append([]byte("x"), []byte(c[0]))
				if err != nil || string(got) != "x"+c[1] {
					t.Errorf("%s\n got %s, %v\nwant %s", c[0], got, err, "x"+c[1])
				}
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth) + `[]`
	many := `{"0":0`
	for i := range 100 {
		many += fmt.Sprintf(`,"k%d":0`, i)
	}
	cases := []struct {
		src, pointer string
		offset       int
	}{
		{``, "", 0},
		{" \n", "", 2},
		{"\ufeff1", "", 0},
		{`1 2`, "", 2},
		{"1\x00", "", 1},
		{`{"a":1}}`, "", 7},
		{`nul`, "", 0},
		{`[True]`, "/0", 1},
		{`[NaN]`, "/0", 1},
		{`[1,]`, "/1", 3},
		{`[1 2]`, "", 3},
		{`[1`, "", 2},
		{`[`, "/0", 1},
		{`{"a":1,}`, "", 7},
		{`{"a" 1}`, "", 5},
		{`{"a":1 "b":2}`, "", 7},
		{`{a:1}`, "", 1},
		{`{"a":}`, "/a", 5},
		{`{"a/b":{"m~n":[0,[+1]]}}`, "/a~1b/m~0n/1/0", 18},
		{`{"\n\u00e9\"\\\u0001":?}`, "/\né\"\\\x01", 22},
		{`01`, "", 0},
		{`[-01]`, "/0", 2},
		{`-`, "", 1},
		{`[-a]`, "/0", 2},
		{`[.5]`, "/0", 1},
		{`[1.]`, "/0", 3},
		{`[1.e3]`, "/0", 3},
		{`[1e]`, "/0", 3},
		{`[1e+]`, "/0", 4},
		{`0x10`, "", 1},
		{`"a`, "", 2},
		{`"a\`, "", 3},
		{`'a'`, "", 0},
		{"\"a\nb\"", "", 2},
		{"\"a\x1fb\"", "", 2},
		{`"\x41"`, "", 2},
		{`"\U0041"`, "", 2},
		{`"\u00g0"`, "", 5},
		{`"\u12`, "", 5},
		{`["\ud800"]`, "/0", 2},
		{`["a\udc00"]`, "/0", 3},
		{`["\ud800\ud800"]`, "/0", 2},
		{`["\ud800x"]`, "/0", 2},
		{`["\ud800\n"]`, "/0", 2},
		{`{"\ud800":1}`, "", 2},
		{"\"a\xff\"", "", 2},
		{"\"\xed\xa0\x80\"", "", 1},
		{"\"\xc0\xaf\"", "", 1},
		{"\"\xe2\x82\"", "", 1},
		{"[\xff]", "/0", 1},
		{`{"a":1,"a":1}`, "/a", 7},
		{`{"a":1,"b":2,"\u0061":3}`, "/a", 13},
		{`{"":1,"":1}`, "/", 6},
		{`[{"x":{"\/":1,"/":1}}]`, "/0/x/~1", 14},
		{many + `,"k7":1,"k3":1}`, "/k7", len(many) + 1},
		{deep + strings.Repeat(`}`, MaxDepth), strings.Repeat("/a", MaxDepth), len(deep) - 2},
		{strings.Repeat(`[`, 100_000), strings.Repeat("/0", MaxDepth), MaxDepth},
	}
	for _, c := range cases {
		dst, err := Append([]byte("x"), []byte(c.src))
		fault, ok := errors.AsType[*Error](err)
		if !ok || string(dst) != "x" {
			t.Errorf("%.80q: got %s, %v, want a fault", c.src, dst, err)
			continue
		}
		if fault.Pointer != c.pointer || fault.Offset != c.offset || fault.Detail == "" || !strings.Contains(err.Error(), fault.Detail) {
			t.Errorf("%.80q: got %v, want byte %d, at %q", c.src, err, c.offset, c.pointer)
		}
	}
}

func TestAppendAcceptsTheGreatestDepth(t *testing.T) {
	src := strings.Repeat(`[{"a":`, MaxDepth/2) + `1` + strings.Repeat(`}]`, MaxDepth/2)
	if got, err := Append(nil, []byte(src)); err != nil || string(got) != src {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAppendOrdersManyKeys(t *testing.T) {
	var src, want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&src, `,"k%d":{"b":0,"%d":[]},"%d":%d`, i, i, 999-i, i)
		fmt.Fprintf(&want, `,"%d":%d`, i, 999-i)
	}
	for i := range 1000 {
		fmt.Fprintf(&want, `,"k%d":{"%d":[],"b":0}`, i, i)
	}
	got, err := Append(nil, []byte("{"+src.String()[1:]+"}"))
	if err != nil || string(got) != "{"+want.String()[1:]+"}" {
		t.Errorf("got %.200s, %v", got, err)
	}
}

func TestAppendString(t *testing.T) {
	for _, c := range [][2]string{
		{"", `""`},
		{"a\"b\\c/d", `"a\"b\\c/d"`},
		{"\x00\x01\b\t\n\v\f\r\x0e\x1f\x7f", `"\u0000\u0001\b\t\n\u000b\f\r\u000e\u001f` + "\x7f\""},
		{"é\u2028\u2029😀\ufffd<>&", "\"é\u2028\u2029😀\ufffd<>&\""},
		{"a\xffb\xe2\x82", "\"a\ufffdb\ufffd\ufffd\""},
	} {
		if got := string(AppendString([]byte("x"), c[0])); got != "x"+c[1] {
			t.Errorf("%q: got %s, want %s", c[0], got, "x"+c[1])
		}
	}
}

func TestAppendStringIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := AppendString(nil, s)
		if want := oracleString(s); string(got) != want {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
		if text, err := Append(nil, got); err != nil || !bytes.Equal(text, got) {
			t.Fatalf("%s became %s, %v", got, text, err)
		}
	})
}

// The files are of the JSON parsing test suite, which is not part of this
// repository. FEEDMILL_CORPORA names the folder that holds its folder.
func TestAppendOnTheParsingSuite(t *testing.T) {
	corpora := cmp.Or(os.Getenv("FEEDMILL_CORPORA"), filepath.Join("..", "..", "..", "shared", "corpora"))
	files, err := filepath.Glob(filepath.Join(corpora, "json-test-suite", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the JSON parsing test suite is absent: FEEDMILL_CORPORA names no folder that holds json-test-suite")
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Append(nil, src)
		switch name := filepath.Base(file); {
		case name == "y_object_duplicated_key.json", name == "y_object_duplicated_key_and_value.json", name[0] == 'n':
			if err == nil {
				t.Errorf("%s: accepted as %.80s", name, text)
			}
		case name[0] == 'y':
			if want, _ := oracleText(t, src); err != nil || string(text) != want {
				t.Errorf("%s: got %.80s, %v, want %.80s", name, text, err, want)
			}
		}
	}
}

// limit.

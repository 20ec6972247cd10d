package jstext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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
	corpora := cmp.Or(os.Getenv("FEEDMILL_CORPORA"), filepath.Join("..", "shared", "corpora"))
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

// failer is what a test and a property have in common.
type failer interface {
	Fatalf(format string, args ...any)
}

// oracleText is the canonical text by another way: a tree of maps and slices
// out of encoding/json, and exact arithmetic for the numbers. held is false
// where JavaScript cannot hold one of them.
func oracleText(t failer, src []byte) (text string, held bool) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	held = true
	text = oracleValue(t, d, &held)
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("%q is not one value: %v", src, err)
	}
	return text, held
}

func oracleValue(t failer, d *json.Decoder, held *bool) string {
	token, err := d.Token()
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	switch v := token.(type) {
	case string:
		return oracleString(v)
	case json.Number:
		text, ok := oracleNumber(string(v))
		*held = *held && ok
		return text
	case json.Delim:
		var parts, keys []string
		values := make(map[string]string)
		for d.More() {
			if v == '[' {
				parts = append(parts, oracleValue(t, d, held))
				continue
			}
			key, _ := d.Token()
			keys = append(keys, key.(string))
			values[key.(string)] = oracleValue(t, d, held)
		}
		if _, err := d.Token(); err != nil {
			t.Fatalf("oracle: %v", err)
		}
		if v == '[' {
			return "[" + strings.Join(parts, ",") + "]"
		}
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(oracleRank(a), oracleRank(b)) })
		for _, key := range keys {
			parts = append(parts, oracleString(key)+":"+values[key])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return strings.ReplaceAll(fmt.Sprint(token), "<nil>", "null")
}

func oracleRank(key string) uint64 {
	n, err := strconv.ParseUint(key, 10, 32)
	if err != nil || n > 1<<32-2 || strconv.FormatUint(n, 10) != key {
		return 1 << 32
	}
	return n
}

func oracleString(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var b strings.Builder
	for _, r := range s {
		if e, ok := short[r]; ok {
			b.WriteString(e)
		} else if r < 0x20 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func oracleNumber(written string) (text string, held bool) {
	f, err := strconv.ParseFloat(written, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(written), "e")
	if zero := !strings.ContainsAny(mantissa, "123456789"); zero {
		return "0", true
	}
	if err != nil || f == 0 {
		return written, false
	}
	print := strconv.FormatFloat(f, 'f', -1, 64)
	if abs := max(f, -f); abs < 1e-6 || abs >= 1e21 {
		print = strconv.FormatFloat(f, 'e', -1, 64)
		print = regexp.MustCompile(`e([+-])0`).ReplaceAllString(print, "e$1")
	}
	a, _ := new(big.Rat).SetString(written)
	b, _ := new(big.Rat).SetString(print)
	if a.Cmp(b) != 0 {
		return written, false
	}
	return print, true
}

// genJSON makes JSON texts that are rarely canonical: white space, needless
// escapes, keys that are array indices or look like them, numbers near every
// limit.
func genJSON() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawJSON(t, 4) })
}

func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r "}).Draw(t, "space")
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	var b strings.Builder
	switch kind {
	case 0:
		return space + rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")
	case 1:
		return space + drawString(t) + space
	case 2, 3:
		return space + drawNumber(t) + space
	case 4, 5:
		for range rapid.IntRange(0, 4).Draw(t, "values") {
			b.WriteString("," + drawJSON(t, depth-1))
		}
		return space + "[" + strings.TrimPrefix(b.String(), ",") + space + "]"
	default:
		seen := make(map[string]bool)
		for range rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 30}).Draw(t, "members") {
			key := rapid.OneOf(
				rapid.Custom(drawString),
				rapid.Map(rapid.Uint64Range(0, 20), func(n uint64) string { return fmt.Sprintf(`"%d"`, n) }),
				rapid.Map(rapid.Uint64Range(1<<32-3, 1<<32+3), func(n uint64) string { return fmt.Sprintf(`"%d"`, n) }),
				rapid.SampledFrom([]string{`"01"`, `"-1"`, `"1.5"`, `"\u0037"`, `"__proto__"`, `"toJSON"`, `"length"`}),
			).Draw(t, "key")
			var plain string
			if err := json.Unmarshal([]byte(key), &plain); err != nil {
				t.Fatal(err)
			}
			if !seen[plain] {
				seen[plain] = true
				b.WriteString("," + space + key + space + ":" + drawJSON(t, depth-1))
			}
		}
		return space + "{" + strings.TrimPrefix(b.String(), ",") + space + "}" + space
	}
}

func drawString(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, "runes") {
		b.WriteString(rapid.OneOf(
			rapid.StringMatching(`[ -!#-\[\]-~]{1,12}`),
			rapid.SampledFrom([]string{`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, "\x7f", "é", "\u2028", "\u2029", "😀", `\ud83d\uDE00`}),
			rapid.Map(rapid.Rune(), func(r rune) string {
				if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError {
					return fmt.Sprintf(`\u%04X`, r)
				}
				return string(r)
			}),
			rapid.Map(rapid.Uint16Range(0, 0xd7ff), func(c uint16) string { return fmt.Sprintf(`\u%04x`, c) }),
		).Draw(t, "piece"))
	}
	return `"` + b.String() + `"`
}

func drawNumber(t *rapid.T) string {
	return rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?`),
		rapid.StringMatching(`-?0\.0{0,10}[0-9]{0,3}(0|5)e-?[0-9]`),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }),
		rapid.Map(rapid.Uint64(), func(n uint64) string { return strconv.FormatUint(n, 10) }),
		rapid.SampledFrom([]string{"-0", "-0.0e3", "1e21", "1e-7", "9007199254740993", "1e400", "5e-324", "1E999999999", "1e-999999999"}),
	).Draw(t, "number")
}

func TestAppendAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(genJSON().Draw(t, "src"))
		got, err := Append(nil, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if want, _ := oracleText(t, src); string(got) != want {
			t.Fatalf("%s\n got %s\nwant %s", src, got, want)
		}
		again, err := Append(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s\nbecame %s, %v", got, again, err)
		}
	})
}

// The law itself, asked of JavaScript: the text is a fixed point exactly when
// every number in it is held.
func TestAppendIsAFixedPointOfJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("Node.js is missing")
	} else if err != nil {
		t.Skip("Node.js is missing: the law was not asked of JavaScript itself")
	}
	const law = `
		const lines = require("fs").readFileSync(0, "utf8").split("\n");
		for (const t of lines.slice(0, -1)) console.log(JSON.stringify(JSON.parse(t)) === t);`
	var texts, want bytes.Buffer
	payloads := genJSON()
	for seed := range 2000 {
		src := []byte(payloads.Example(seed))
		text, err := Append(nil, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		_, held := oracleText(t, src)
		fmt.Fprintf(&texts, "%s\n", text)
		fmt.Fprintln(&want, held)
	}
	cmd := exec.CommandContext(t.Context(), node, "-e", law)
	cmd.Stdin = bytes.NewReader(texts.Bytes())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.Bytes())
	}
	got := strings.Split(string(out), "\n")
	wanted := strings.Split(want.String(), "\n")
	if len(got) != len(wanted) {
		t.Fatalf("node judged %d texts of %d", len(got)-1, len(wanted)-1)
	}
	for i, text := range strings.Split(texts.String(), "\n") {
		if got[i] != wanted[i] {
			t.Errorf("fixed point: %s, want %s: %s", got[i], wanted[i], text)
		}
	}
}

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

func BenchmarkAppendJSText(b *testing.B) {
	var items []string
	for i := range 6 {
		items = append(items, fmt.Sprintf(`{"metricId":"m_01h455vb4pex5vsknk08%02d","name":"Büro %d, Umsatz","value":%d.25,"active":true,"previous":null}`, i, i, 1000*i))
	}
	canonical := []byte(`{"id":"evt_01h455vb4pex5vsknk084sn02q","type":"metric.refreshed","timestamp":"2026-11-15T12:00:00.000Z",` +
		`"resourceId":"m_1","data":{"description":"The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.",` +
		`"count":6,"items":[` + strings.Join(items, ",") + `]}}`)
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, canonical, "", "  "); err != nil {
		b.Fatal(err)
	}
	rewritten := strings.NewReplacer("ü", `\u00fc`, `"name"`, `"7"`, ".25", ".250").Replace(spaced.String())
	for _, c := range []struct{ name, src string }{
		{"canonical", string(canonical)},
		{"rewritten", rewritten},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := []byte(c.src)
			dst := make([]byte, 0, 2*len(src))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Append(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package json

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// faultyJSON are texts that are no JSON, each with the place of the fault and
// what is said about it. None of them is right in any kind of reading.
var faultyJSON = []struct {
	data   string
	offset int
	detail string
}{
	{`[1,]`, 3, "expected a value, found ']'"},
	{`[,1]`, 1, "expected a value, found ','"},
	{`[1,,2]`, 3, "expected a value, found ','"},
	{`[1 2]`, 3, "expected a comma or ] after an element, found '2'"},
	{`[1:2]`, 2, "':'"},
	{`[1`, 2, "the data ends here"},
	{`[`, 1, "the data ends here"},
	{`]`, 0, "expected a value, found ']'"},
	{`[1]]`, 3, "unexpected data after the value"},
	{`[1]x`, 3, "unexpected data after the value"},
	{`[][]`, 2, "unexpected data after the value"},
	{`[]{}`, 2, "unexpected data after the value"},
	{`0{}`, 1, "expected the end of the value, found '{'"},
	{`0 {}`, 2, "unexpected data after the value"},
	{`1 2`, 2, "unexpected data after the value"},
	{`{"a":1} "x"`, 8, "unexpected data after the value"},
	{`{"a":1}[]`, 7, "unexpected data after the value"},
	{`{"a":1,}`, 7, "expected a name in double quotes, found '}'"},
	{`{,"a":1}`, 1, "expected a name in double quotes, found ','"},
	{`{"a" 1}`, 5, "expected a colon after the name, found '1'"},
	{`{"a":}`, 5, "expected a value, found '}'"},
	{`{"a":1 "b":2}`, 7, "expected a comma or } after a member"},
	{`{"a":1]`, 6, "expected a comma or } after a member, found ']'"},
	{`{a:1}`, 1, "expected a name in double quotes, found 'a'"},
	{`{'a':1}`, 1, "expected a name in double quotes"},
	{`{1:1}`, 1, "expected a name in double quotes"},
	{`{"a":1`, 6, "the data ends here"},
	{`{"a":`, 5, "the data ends here"},
	{`{"a"`, 4, "the data ends here"},
	{`{"a`, 3, "the data ends here; the string is not closed"},
	{`{"a":/*c*/1}`, 5, "expected a value, found '/'"},
	{`{"a":1}#`, 7, "unexpected data after the value"},
	{`[01]`, 1, "a number must not start with 0"},
	{`[-01]`, 1, "a number must not start with 0"},
	{`[+1]`, 1, "expected a value, found '+'"},
	{`[.5]`, 1, "expected a value, found '.'"},
	{`[1.]`, 3, "expected a digit after the decimal point, found ']'"},
	{`[1.e5]`, 3, "expected a digit after the decimal point"},
	{`[1e]`, 3, "expected a digit in the exponent"},
	{`[1e+]`, 4, "expected a digit in the exponent"},
	{`[-]`, 2, "expected a digit, found ']'"},
	{`[- 1]`, 2, "expected a digit, found ' '"},
	{`[0x1]`, 2, "'x'"},
	{`[1a]`, 2, "'a'"},
	{`[NaN]`, 1, "expected a value, found 'N'"},
	{`[Infinity]`, 1, "expected a value, found 'I'"},
	{`[nul]`, 1, "expected a value, found 'n'"},
	{`[tru`, 1, "expected a value, found 't'"},
	{`[True]`, 1, "expected a value, found 'T'"},
	{`[truex]`, 5, "'x'"},
	{"[\"a\nb\"]", 3, "the control character 0x0A must be escaped in a string"},
	{"[\"a\x00b\"]", 3, "the control character 0x00 must be escaped"},
	{"[\"\x1f\"]", 2, "the control character 0x1F must be escaped"},
	{"[1\x00]", 2, "'\\x00'"},
	{"[\x0b1]", 1, "expected a value, found '\\v'"},
	{"[\u00a01]", 1, "expected a value, found '\\u00a0'"},
	{`["\x41"]`, 2, "the escape is not valid"},
	{`["\u12"]`, 2, "\\u must be followed by four hexadecimal digits"},
	{`["\u12G4"]`, 2, "\\u must be followed by four hexadecimal digits"},
	{`["\ud800"]`, 2, "half of a surrogate pair"},
	{`["ab\udc00"]`, 4, "half of a surrogate pair"},
	{`["\ud800\u0041"]`, 2, "half of a surrogate pair"},
	{`["\ud800\ud800"]`, 2, "half of a surrogate pair"},
	{`["\ud800\n"]`, 2, "half of a surrogate pair"},
	{`["\`, 3, "the data ends here; the string is not closed"},
	{`["\"]`, 5, "the data ends here; the string is not closed"},
	{`["a`, 3, "the data ends here; the string is not closed"},
	{`["a]`, 4, "the data ends here; the string is not closed"},
	{"[\"a\xff\"]", 3, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{"[\"é\xc3\"]", 4, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{"[\"\xed\xa0\x80\"]", 2, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{"[\"\xc0\xaf\"]", 2, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{"[\"\\\xff\"]", 3, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{"{\"a\xff\":1}", 3, "the string is not valid UTF-8; set encoding=… if the data has another encoding"},
	{`{"\ud800":1}`, 2, "half of a surrogate pair"},
	{"[1\xff]", 2, "the byte 0xFF"},
	{`['a']`, 1, "expected a value, found '\\''"},
	{`<html>`, 0, "expected a value, found '<'"},
	{`[[1,]]`, 4, "expected a value, found ']'"},
	{`[[1 2]]`, 4, "expected a comma or ] after an element"},
	{`[[{"a":1,}]]`, 9, "expected a name in double quotes"},
	{`[[{"a" 1}]]`, 7, "expected a colon after the name"},
	{`[[{"a":1 1}]]`, 9, "expected a comma or } after a member"},
	{`[["\x"]]`, 3, "the escape is not valid"},
	{`[[{"\x":1}]]`, 4, "the escape is not valid"},
	{`[{"a":{"b":1}`, 13, "the data ends here"},
	{`{"a":[{"b":1}]`, 14, "the data ends here"},
	{`{"a":[{"b":1}],"c":01}`, 19, "a number must not start with 0"},
	{`{"c":01,"a":[{"b":1}]}`, 5, "a number must not start with 0"},
	{`{"c":{"d":[1,{"e":"\q"}]},"a":[{"b":1}]}`, 19, "the escape is not valid"},
	{`{"a":[{"b":tru}],"c":01}`, 11, "expected a value, found 't'"},
	{`{"a":[{"b":1}}`, 13, "expected a comma or ] after an element, found '}'"},
}

// TestJSONRefuses holds every fault against each way to read a document: by
// itself, by a path that is followed, and in memory.
func TestJSONRefuses(t *testing.T) {
	for _, test := range faultyJSON {
		for _, options := range []Options{{}, {Path: "$"}, {Path: "$..x"}, {Path: "$.a[*]"}, {Path: "$[*]"}, {Path: "$[?@.a]"}, {Explode: "$.a.b"}} {
			t.Run(fmt.Sprintf("%q %s%s", test.data, options.Path, options.Explode), func(t *testing.T) {
				_, err := readJSON(t, Open, []byte(test.data), options)
				detail := test.detail
				if options.Path != "" || options.Explode != "" {
					detail = "" // what is expected depends on what is read
				}
				decodetest.MustRefuse(t, err, detail)
				if !errors.Is(err, feedmill.ErrUnprocessable) {
					t.Errorf("error %v is not unprocessable", err)
				}
				if place := fmt.Sprintf("(byte %d)", test.offset); !strings.Contains(err.Error(), place) {
					t.Errorf("error %v, want it at %s", err, place)
				}
			})
		}
	}
}

func TestJSONFaultHasLineAndColumn(t *testing.T) {
	for _, test := range []struct {
		format, data, want string
		options            Options
	}{
		{"json", "[\n  {\"a\": 1},\n  {\"é\": tru}\n]", "the JSON is not valid at line 3, column 10 (byte 23): expected a value, found 't'", Options{}},
		{"json", "\xef\xbb\xbf[1,]", "line 1, column 7 (byte 6)", Options{}},
		{"json", "{\"data\":[\n{\"a\":\"\\n\\n\"},\n{\"a\":\"\x01\"}]}", "line 3, column 7 (byte 30)", Options{}},
		{"ndjson", "{\"a\":\"\\n\"}\n\n{\"a\":}\n", "line 3, column 6 (byte 17): expected a value, found '}'", Options{}},
		{"ndjson", "{\"a\":1}\n{\"a\":1} {\"a\":2}\n", "line 2, column 9 (byte 16): expected the end of the line after the value, found '{'; write one value per line", Options{}},
		{"ndjson", "{\"a\":1}\n{\"a\":\n2}\n", "line 2, column 6 (byte 13): the line ends inside the value; write one value per line, or set format=json if values span lines", Options{}},
		{"ndjson", "{\"a\":1}\n{\"a\":1\n", "line 2, column 7 (byte 14): the line ends inside the value", Options{}},
		{"ndjson", "[ \n0]", "line 1, column 3 (byte 2): the line ends inside the value", Options{}},
		{"ndjson", "{\"a\":1}\n{\"a\":1", "line 2, column 7 (byte 14): the data ends here", Options{}},
		{"ndjson", "[1]\n]\n", "line 2, column 1 (byte 4): expected a value, found ']'", Options{}},
		{"ndjson", "[1]\n[tru]\n", "line 2, column 2 (byte 5): expected a value, found 't'", Options{Path: "$[*]"}},
		{"ndjson", "[1]\n[1,\n2]", "line 2, column 4 (byte 7): the line ends inside the value", Options{Path: "$[*]"}},
		{"ndjson", "[1]\n[1] [2]", "line 2, column 5 (byte 8): expected the end of the line after the value", Options{Path: "$[*]"}},
		{"ndjson", "1\n{\"a\":[1 2]}", "line 2, column 9 (byte 10): expected a comma or ] after an element", Options{Explode: "a"}},
		{"ndjson", "1\n{\"a\":[1,]}", "line 2, column 9 (byte 10): expected a value, found ']'", Options{Explode: "a"}},
		{"ndjson", "{\"x\":[{\"" + strings.Repeat("n", 2000) + "\":1}]}", "line 1, column 7 (byte 6): the column name is 2000 bytes long", Options{Path: "$.x[*]"}},
	} {
		_, err := readJSON(t, openerOf(test.format), []byte(test.data), test.options)
		decodetest.MustRefuse(t, err, test.want)
	}
}

func TestJSONWithoutData(t *testing.T) {
	for _, data := range []string{"", " \n\t\r\n", "\xef\xbb\xbf", "\xef\xbb\xbf\n"} {
		for _, format := range []string{"json", "ndjson"} {
			if _, err := readJSON(t, openerOf(format), []byte(data), Options{}); !errors.Is(err, input.ErrNoData) {
				t.Errorf("%s %q: error %v", format, data, err)
			}
		}
	}
}

func TestJSONOptionsRefused(t *testing.T) {
	for _, test := range []struct {
		options   Options
		parameter string
		want      string
	}{
		{Options{Path: "data"}, "path", "the path is not valid at character 1: a path must start with $"},
		{Options{Path: "$.a["}, "path", "at character 5"},
		{Options{Explode: "$"}, "explode", "explode must consist of names and [*]"},
		{Options{Explode: "$[*]"}, "explode", "explode must consist of names and [*]"},
		{Options{Explode: "$.a[0]"}, "explode", "explode must consist of names and [*]"},
		{Options{Explode: "$.a[*][*]"}, "explode", "explode must consist of names and [*]"},
		{Options{Explode: "$..a"}, "explode", "explode must consist of names and [*]"},
		{Options{Explode: "a b"}, "explode", "the path is not valid at character"},
	} {
		_, err := Open(t.Context(), bytes.NewReader([]byte("[]")), test.options)
		decodetest.MustRefuse(t, err, test.want)
		refused, _ := errors.AsType[*feedmill.Error](err)
		if !errors.Is(err, feedmill.ErrInvalid) || len(refused.Faults) != 1 || refused.Faults[0].Parameter != test.parameter {
			t.Errorf("%+v: %#v", test.options, refused)
		}
	}
}

func TestJSONStopsWithItsConsumer(t *testing.T) {
	const block = 32 << 10
	data := decodetest.Records(4*block, "\n")
	stop := errors.New("enough")
	for _, open := range []jsonOpener{OpenLines, Open} {
		j, err := open(t.Context(), bytes.NewReader(data), Options{blockBytes: block, readBytes: block / 4})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Each(t.Context(), 2, func(*columnar.Cells) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("error %v, want %v", err, stop)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.Each(cancelled, 2, func(*columnar.Cells) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		// A reading that failed leaves nothing behind.
		if err := j.Each(t.Context(), 2, func(*columnar.Cells) error { return nil }); err != nil || j.Rows() == 0 {
			t.Errorf("%d rows, error %v", j.Rows(), err)
		}
		if err := j.Each(cancelled, 2, func(*columnar.Cells) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	}
}

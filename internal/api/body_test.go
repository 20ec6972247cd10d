package api

import (
	"encoding/hex"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

func readText(text, contentType string) (strictjson.Value, []string, error) {
	c := &call{r: httptest.NewRequest("POST", "/", strings.NewReader(text))}
	c.r.Header.Set("Content-Type", contentType)
	v, err := c.readJSON()
	var places []string
	for _, f := range c.faults.List {
		places = append(places, f.Pointer)
	}
	return v, places, err
}

func TestReadJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, text string
		places     []string // pointers of the faults
	}{
		{"object", `{"a":{"b":[1,2]}}`, nil},
		{"space around", " \t\r\n{} \n", nil},
		{"as deep as may be", deep(strictjson.MaxDepth), nil},
		{"empty", "", []string{""}},
		{"only space", " \n", []string{""}},
		{"ends early", `{"a":[1`, []string{"/a"}},
		{"ends in a string", `{"a":"b`, []string{"/a"}},
		{"ends after a name", `{"a"`, []string{"/a"}},
		{"too deep", deep(strictjson.MaxDepth + 1), []string{strings.Repeat("/0", strictjson.MaxDepth)}},
		{"far too deep", strings.Repeat("[", 1<<19), []string{strings.Repeat("/0", strictjson.MaxDepth)}},
		{"two values", `{} {}`, []string{""}},
		{"rubbish after it", `{}x`, []string{""}},
		{"not a value", `{"a":nul}`, []string{"/a"}},
		{"a name without quotes", `{a:1}`, []string{""}},
		{"a comma too many", `{"a":[1,]}`, []string{"/a"}},
		{"wrong bracket", `{"a":[1}}`, []string{"/a"}},
		{"NaN", `{"a":NaN}`, []string{"/a"}},
		{"number with a leading zero", `{"a":01}`, []string{""}},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", []string{"/a"}},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", []string{""}},
		{"lone surrogate", `{"a":"\ud800"}`, []string{"/a"}},
		{"byte order mark", "\ufeff{}", []string{""}},
		{"a key twice", `{"a":1,"b":{"c":1,"c":2},"a":3}`, []string{"/b/c", "/a"}},
		{"the same key, written twice differently", `{"a":1,"\u0061":2}`, []string{"/a"}},
		{"keys that need escaping", `{"a/b":{"~":1,"~":2},"a/b":1}`, []string{"/a~1b/~0", "/a~1b"}},
		{"a key twice, then no JSON", `{"a":1,"a":2,}`, []string{"/a", ""}},
		{"a key twice in an array", `[{},{"a":1,"a":2}]`, []string{"/1/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, places, err := readText(c.text, "application/json")
			if !slices.Equal(places, c.places) {
				t.Errorf("faults are at %q, want %q (error: %v)", places, c.places, err)
			}
			if err != nil && !errors.Is(err, feedmill.ErrInvalid) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestContentType(t *testing.T) {
	for _, c := range []struct {
		contentType string
		taken       bool
	}{
		{"", true},
		{"application/json", true},
		{"Application/JSON; Charset=UTF-8", true},
		{`application/json; charset="utf-8"`, true},
		{"application/json; charset=latin1", false},
		{"application/json; charset", false},
		{"application/problem+json", false},
		{"application/jsonx", false},
		{"text/plain", false},
		{"application/x-www-form-urlencoded", false},
		{"json", false},
		{";", false},
	} {
		_, _, err := readText("{}", c.contentType)
		if taken := err == nil; taken != c.taken || (!taken && !errors.Is(err, feedmill.ErrUnsupported)) {
			t.Errorf("%q: error is %v, want it taken: %v", c.contentType, err, c.taken)
		}
	}
}

func TestContentEncoding(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/events", "/events/subscriptions", "/keys"} {
		for _, coding := range []string{"gzip", "GZIP", "identity, br", "x"} {
			a := w.do(t, "POST", path, "{}", "Content-Encoding", coding)
			p := readProblem(t, a)
			if a.Code != 415 || len(p.Errors) != 1 || p.Errors[0].Header != "Content-Encoding" || a.Header().Get("Accept-Post") == "" {
				t.Errorf("%s in %s: %d %v %s", path, coding, a.Code, a.Header(), a.Body)
			}
		}
		if a := w.do(t, "POST", path, "{}", "Content-Encoding", "Identity"); a.Code != 400 {
			t.Errorf("%s in no encoding: %d %s", path, a.Code, a.Body)
		}
	}
}

// What is wrong is said without any of the text, which can be a secret.
func TestSyntaxFaultsRepeatNothing(t *testing.T) {
	for _, text := range []string{
		`{"a":hunter}`, `{"a":"hunter`, `{hunter:1}`, `{"a":1 hunter}`, `hunter`, `{"a":"\hunter"}`, `{"a":1}hunter`, "{\"a\":\"hunter\xff\"}", `["hunter" 'x']`,
	} {
		c := &call{r: httptest.NewRequest("POST", "/", strings.NewReader(text))}
		if _, err := c.readJSON(); err == nil || len(c.faults.List) == 0 {
			t.Errorf("%s: read without a fault", text)
		}
		for _, f := range c.faults.List {
			if strings.Contains(f.Detail, "hunter") || strings.ContainsAny(f.Detail, `'"`+"`") || !strings.Contains(f.Detail, "byte ") {
				t.Errorf("%s: the fault says %s", text, f.Detail)
			}
		}
	}
}

func TestOperationsWithoutABody(t *testing.T) {
	w := newWorld(t)
	id, _ := w.makeSubscription(t, `{"url":"https://example.com/hook","events":["tag.*"]}`)
	w.dispatcher.pinged = feedmill.Attempt{At: now(), Status: 204}
	for _, c := range []struct {
		body, query string
		places      []string // pointers and parameters of the faults
	}{
		{"", "", nil},
		{" \n", "", nil},
		{"{}", "", nil},
		{" { } ", "", nil},
		{`{"overlap":"0s"}`, "", []string{"/overlap"}},
		{`[]`, "", []string{""}},
		{`null`, "", []string{""}},
		{`{`, "", []string{""}},
		{`{}{}`, "", []string{""}},
		{`a=1`, "", []string{""}},
		{`{"a":1}`, "?b=2", []string{"b", "/a"}},
		{"", "?b=2", []string{"b"}},
	} {
		for _, header := range [][]string{nil, {"Idempotency-Key", "key-" + hex.EncodeToString([]byte(c.body+c.query))}} {
			a := w.do(t, "POST", "/events/subscriptions/"+string(id)+"/test"+c.query, c.body, header...)
			if c.places == nil {
				if a.Code != 200 {
					t.Errorf("%q: %d %s", c.body, a.Code, a.Body)
				}
				continue
			}
			var places []string
			for _, f := range readProblem(t, a).Errors {
				if f.Pointer != nil {
					places = append(places, *f.Pointer)
				} else {
					places = append(places, f.Parameter)
				}
			}
			if a.Code != 400 || !slices.Equal(places, c.places) {
				t.Errorf("%q: %d with faults at %q, want %q", c.body, a.Code, places, c.places)
			}
		}
	}
}

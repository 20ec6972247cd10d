package webhook

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestQueryPayload(t *testing.T) {
	for _, c := range []struct {
		query, payload string
		want           error
	}{
		{"payload=%7B%7D", "{}", nil},
		{"x=1&payload=%7B%7D", "{}", nil},
		{"x=1&&payload=%7B%7D", "{}", nil},
		{"payload=old&payload=new", "new", nil},
		{"payload=%7B%7D&added=by+a+proxy", "{}", nil},
		{"payload=a%20b+c%2Bd%26e%3Df", "a b c+d&e=f", nil},
		{"payload=%C3%BC%F0%9F%98%80", "ü😀", nil},
		{"a;b=%zz&payload=x", "x", nil},
		{"payload=", "", nil},
		{"payload=a=b", "a=b", nil},
		{"", "", ErrMalformed},
		{"payload", "", ErrMalformed},
		{"my_payload=x", "", ErrMalformed},
		{"PAYLOAD=x", "", ErrMalformed},
		{"x=payload=1", "", ErrMalformed},
		{"payload=%7", "", ErrMalformed},
		{"payload=%zz", "", ErrMalformed},
		{"payload=" + strings.Repeat("x", maxQuery-len("payload=")), strings.Repeat("x", maxQuery-len("payload=")), nil},
		{"payload=" + strings.Repeat("x", maxQuery), "", ErrTooLarge},
	} {
		got, err := queryPayload(c.query)
		if string(got) != c.payload || !errors.Is(err, c.want) {
			t.Errorf("%.80s: %.80q, %v, want %.80q, %v", c.query, got, err, c.payload, c.want)
		}
	}
}

func FuzzQueryPayload(f *testing.F) {
	f.Add("x=1&payload=%7B%7D")
	f.Add("payload=%zz&payload")
	f.Add("&&payload=a&=&;")
	f.Fuzz(func(t *testing.T, query string) {
		got, err := queryPayload(query)
		if len(got) > maxQuery {
			t.Errorf("%d bytes came of %d", len(got), len(query))
		}
		values, parseErr := url.ParseQuery(query)
		if err != nil || parseErr != nil || strings.Contains(query, "%") || slices.Contains(strings.Split(query, "&"), "payload") {
			return // the standard library reads these names in more ways
		}
		if all := values["payload"]; string(got) != all[len(all)-1] {
			t.Errorf("got %q, want the last of %q", got, all)
		}
	})
}

// Whatever stands before it in the query, a payload comes out as it was put in.
func TestQueryPayloadIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.StringN(-1, -1, 1000).Draw(t, "payload")
		before := rapid.StringMatching(`([a-z;%=+]{0,9}&){0,3}`).Draw(t, "before")
		encoded := strings.ReplaceAll(url.QueryEscape(payload), "+", "%20")
		got, err := queryPayload(before + "payload=" + encoded)
		if err != nil || string(got) != payload {
			t.Fatalf("%q became %q, %v", payload, got, err)
		}
	})
}

func TestReadPayload(t *testing.T) {
	broken := errors.New("the connection broke")
	for _, c := range []struct {
		name   string
		method string
		body   io.Reader
		bytes  int
		want   error
	}{
		{"a body", "POST", strings.NewReader(testPayload), len(testPayload), nil},
		{"no body", "POST", strings.NewReader(""), 0, nil},
		{"the largest body", "POST", strings.NewReader(strings.Repeat("x", maxBody)), maxBody, nil},
		{"a larger one that says so", "POST", strings.NewReader(strings.Repeat("x", maxBody+1)), 0, ErrTooLarge},
		{"a larger one that does not", "POST", io.MultiReader(strings.NewReader(strings.Repeat("x", maxBody+1))), 0, ErrTooLarge},
		{"one that is too large for somebody else", "POST", http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("four")), 3), 0, ErrTooLarge},
		{"one that breaks off", "POST", iotest.ErrReader(broken), 0, broken},
		{"PUT", "PUT", strings.NewReader(testPayload), 0, ErrMethod},
		{"HEAD", "HEAD", nil, 0, ErrMethod},
		{"GET without a payload", "GET", nil, 0, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/hook", c.body)
			got, err := readPayload(r)
			if len(got) != c.bytes || !errors.Is(err, c.want) {
				t.Errorf("%d bytes, %v, want %d, %v", len(got), err, c.bytes, c.want)
			}
		})
	}
}

package egress

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What parseAnswer reads, net/http reads the same way.
func FuzzParseAnswer(f *testing.F) {
	for _, text := range []string{
		noContent,
		"HTTP/1.1 204 No Content\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\nset-cookie: a\r\nSet-Cookie:  b \r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + noContent,
		"HTTP/1.1 200\r\nContent-Length: 0\r\nX_Y: \t\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\nX: a\r\n b\r\n\r\n",
		"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\nX : a\r\n\r\n",
		"HTTP/1.1 500 Oh\nno\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n" + noContent,
		"HTTP/1.0 204 No Content\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nx!#$%&'*+.^_`|~1: a\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nPragma: no-cache\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, size := parseAnswer(b)
		if size == 0 {
			return
		}
		here, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		rest := bufio.NewReader(bytes.NewReader(b))
		resp, err := http.ReadResponse(rest, nil)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", b, err)
		}
		there, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		left, _ := io.ReadAll(rest)
		header := make(http.Header)
		for _, field := range a.Header {
			header.Add(field[0], field[1])
		}
		if a.Status != resp.StatusCode || !bytes.Equal(here, there) || !bytes.Equal(left, b[size:]) || resp.Close {
			t.Errorf("%q is read as %d with %q, and %q left; net/http reads %d with %q, and %q left", b, a.Status, here, b[size:], resp.StatusCode, there, left)
		}
		if diff := cmp.Diff(resp.Header, header); diff != "" {
			t.Errorf("the header of %q differs from what net/http reads:\n%s", b, diff)
		}
	})
}

func TestUsualAnswersAreParsed(t *testing.T) {
	for text, size := range map[string]int{
		noContent: len(noContent),
		"HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}{}": 109,
		"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n":                                                           57,
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}":                                                                            0,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n":                                                                                  0,
	} {
		if _, got := parseAnswer([]byte(text)); got != size {
			t.Errorf("%d bytes of %q are an answer, want %d", got, text, size)
		}
	}
}

package egress

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// readInPieces is what is kept of a header that comes in pieces of a size.
func readInPieces(t *testing.T, text string, size int, held *atomic.Int64) (kept, rest string, cut bool, err error) {
	t.Helper()
	h := head{held: held}
	defer h.release()
	for i := 0; i < len(text); i += size {
		end := min(i+size, len(text))
		behind, ended, err := h.add([]byte(text[i:end]))
		if err != nil {
			return "", "", false, err
		}
		if ended {
			return string(h.kept), string(behind) + text[end:], h.cut, nil
		}
	}
	return string(h.kept), "", h.cut, nil
}

// filler returns n header lines that are not needed.
func filler(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-%d: %s\r\n folded\r\n", i, strings.Repeat("v", 1000))
	}
	return b.String()
}

func TestHeadKeepsWhatIsNeeded(t *testing.T) {
	const begin, needed, long = "HTTP/1.1 200 OK\r\n", "content-length: 2\r\nRetry-After: 5\r\n", "X-Long: "
	for name, tt := range map[string]struct {
		text, want string // nothing where it is too large
		full       bool
	}{
		"small":            {text: begin + "A: b\r\n folded\r\n" + needed, want: begin + "A: b\r\n folded\r\n" + needed},
		"bare newlines":    {text: "HTTP/1.1 200 OK\nA: b\n", want: "HTTP/1.1 200 OK\nA: b\n"},
		"many lines":       {text: begin + filler(60) + needed, want: begin + filler(16) + needed},
		"a long line":      {text: begin + long + strings.Repeat("v", 3*keptHead) + "\r\n folded\r\n" + needed, want: begin + needed},
		"no room":          {text: begin + filler(2) + needed, want: begin + filler(1) + needed, full: true},
		"too much of need": {text: begin + "Connection: " + strings.Repeat("v", keptHead+neededHead) + "\r\n"},
		"no name":          {text: begin + strings.Repeat("v", keptHead+neededHead) + "\r\n"},
		"no status":        {text: strings.Repeat("H", keptHead+neededHead+1)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1000, answerBuffer, len(tt.text) + 10} {
				var held atomic.Int64
				if tt.full {
					held.Store(maxHeads)
				}
				before := held.Load()
				kept, rest, cut, err := readInPieces(t, tt.text+"\r\nbody", size, &held)
				if tt.want == "" {
					if err != errHeaderTooLarge {
						t.Errorf("in pieces of %d: %v", size, err)
					}
				} else if err != nil || kept != tt.want+"\r\n" || rest != "body" || cut != (tt.want != tt.text) {
					t.Errorf("in pieces of %d %d bytes are kept, want %d; cut is %v, %q is left, %v", size, len(kept), len(tt.want)+2, cut, rest, err)
				}
				if held.Load() != before {
					t.Errorf("%d bytes are counted still", held.Load()-before)
				}
			}
		})
	}
}

// A header with many lines is read to its end, and the connection is kept.
func TestExpressReadsLongHeaders(t *testing.T) {
	var connections atomic.Int32
	answer := "HTTP/1.1 200 OK\r\n" + filler(100) + "Content-Length: 2\r\n\r\nok"
	address := script(t, &connections, answer, answer, answer)
	x := newExpress(t, Options{Allow: []string{"127.0.0.1"}})
	for range 3 {
		if status, body, err := post(t, x, address, "{}"); status != http.StatusOK || body != "ok" || err != nil {
			t.Errorf("answered %d %q, %v", status, body, err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// An exchange that waits has no buffer.
func TestWaitingTakesNoBuffer(t *testing.T) {
	l := listenLocally(t)
	defer l.Close()
	here, err := newClient(t, Options{Allow: []string{"127.0.0.1"}}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	c := newConnPool(1).add(connKey{}, here)
	defer c.abort()
	c.left = 5
	if _, err := there.Write([]byte("piece")); err != nil {
		t.Fatal(err)
	}
	if err := c.await(); err != nil || string(c.piece) != "piece" || c.buffer == nil {
		t.Errorf("%q has come, %v", c.piece, err)
	}
	if err := c.await(); err != errHeaderTooLarge {
		t.Errorf("past what may be read: %v", err)
	}
	c.left = 5
	c.SetDeadline(time.Now().Add(time.Millisecond))
	if err := c.await(); !isTimeout(err) || c.buffer != nil || c.answer != nil {
		t.Errorf("when nothing has come: %v, buffers %v and %v", err, c.buffer != nil, c.answer != nil)
	}
}

package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// longServer has a route that reads a large body, and one that does not.
func longServer() *Server {
	return newTestServer(new(strings.Builder),
		route{method: "POST", path: "/long", scope: feedmill.ScopeRead, body: 1 << 30, long: true, handle: func(c *call) (answer, error) {
			if _, err := io.Copy(io.Discard, c.r.Body); err != nil {
				return answer{}, bodyError(err)
			}
			select {
			case <-c.ctx().Done():
				return answer{}, errors.New("the context ended")
			case <-time.After(workTimeout + 10*time.Second):
				return answer{status: http.StatusNoContent}, nil
			}
		}},
		route{method: "POST", path: "/refused", scope: feedmill.ScopeRead, body: 1 << 30, long: true, handle: func(*call) (answer, error) {
			return answer{}, feedmill.Invalid("", feedmill.Fault{Detail: "No."})
		}})
}

// A body that is large may take as long as it takes, and so may the work on it.
func TestLargeBodyMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, longServer())
		const parts, size = 20, 200 << 10
		fmt.Fprintf(conn, "POST /long HTTP/1.1\r\nHost: f\r\nContent-Length: %d\r\n\r\n", parts*size)
		for range parts {
			time.Sleep(readTimeout - time.Second)
			if _, err := io.WriteString(conn, strings.Repeat("x", size)); err != nil {
				t.Fatal(err)
			}
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusNoContent {
			t.Errorf("the answer is %d", answer.StatusCode)
		}
	})
}

func TestLargeBodyThatTricklesOrStopsIsCut(t *testing.T) {
	for _, path := range []string{"/long", "/refused"} {
		for pause, most := range map[time.Duration]time.Duration{
			time.Second:                  readTimeout + 5*time.Second,
			readTimeout * 2:              readTimeout + 5*time.Second,
			readTimeout - 10*time.Second: readTimeout + 5*time.Second,
		} {
			t.Run(fmt.Sprint(path, " ", pause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn := connect(t, longServer())
					start := time.Now()
					gone := make(chan time.Time, 1)
					go func() {
						io.Copy(io.Discard, conn)
						gone <- time.Now()
					}()
					io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: f\r\nContent-Length: 100000000\r\n\r\n")
					for {
						if _, err := io.WriteString(conn, "x"); err != nil {
							break
						}
						time.Sleep(pause)
					}
					if took := (<-gone).Sub(start); took > most {
						t.Errorf("the connection was held for %v", took)
					}
				})
			})
		}
	}
}

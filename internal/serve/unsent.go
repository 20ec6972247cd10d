package serve

import (
	"io"
	"net/http"
	"time"
)

// unsentTimeout is how long a client that got its response may go on sending the body.
const unsentTimeout = time.Second

// EndUnsent bounds how long the server waits for the rest of a body that nobody read. A
// server of net/http reads it before it closes or reuses the connection, for as long as
// the last read deadline allows, which can be forever.
func EndUnsent(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			h.ServeHTTP(w, r)
			return
		}
		body := &sentBody{ReadCloser: r.Body}
		inner := *r // net/http looks at the body of the original
		inner.Body = body
		h.ServeHTTP(w, &inner)
		if !body.ended {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(unsentTimeout)) // a recorder in a test has none
		}
	})
}

// sentBody knows whether it was read to its end.
type sentBody struct {
	io.ReadCloser
	ended bool
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

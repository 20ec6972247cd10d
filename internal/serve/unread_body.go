package serve

import (
	"io"
	"net/http"
	"time"
)

// unsentTimeout is how long a client can continue to send a body after the response.
const unsentTimeout = time.Second

// EndUnsent limits how long the server waits for the rest of an unread body. net/http reads
// it before it closes or reuses the connection, until the last read deadline, which can be
// never.
func EndUnsent(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			h.ServeHTTP(w, r)
			return
		}
		body := &sentBody{ReadCloser: r.Body}
		inner := *r // net/http checks the body of the original
		inner.Body = body
		h.ServeHTTP(w, &inner)
		if !body.ended {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(unsentTimeout)) // a recorder in a test has none
		}
	})
}

// sentBody records whether it was read to its end.
type sentBody struct {
	io.ReadCloser
	ended bool
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

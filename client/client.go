// Package client is the API in Go: typed calls, problems as errors, lists as
// iterators, and requests that are repeated where that is safe.
//
//	c := client.New("http://127.0.0.1:8080", key)
//	accepted, err := c.Publish(ctx, client.NewEvent{Type: "metric.created", ResourceID: "m_1"})
//
//	for d, err := range c.Undelivered(ctx) {
//		…
//	}
//
// What the server refuses is a [*Problem], which [errors.AsType] finds and
// which matches the sentinels of the package feedmill:
//
//	if errors.Is(err, feedmill.ErrNotFound) { … }
//
// A request that got no answer, or the answer to come back later, is made
// again as long as that is safe. GET, PUT and DELETE always are; every POST is
// sent with an Idempotency-Key, so that the server acts once however often it
// arrives. A PATCH is made once.
package client

import (
	"net/http"
	"strings"
	"time"
)

// Client calls one server with one credential. It may be used from any
// goroutine; its fields are set before the first call.
type Client struct {
	base string
	key  string
	// HTTP makes the requests. It follows no redirects, so that the
	// credential goes to the server that was named and to no other.
	HTTP *http.Client
	// Tries is how often a request that is safe to repeat is made at most.
	Tries int
	// PageSize is how many records a list asks for at once, up to 500; zero
	// leaves it to the server.
	PageSize int
	// UserAgent is sent with every request.
	UserAgent string
}

// New makes a client for the server at base, such as http://127.0.0.1:8080.
func New(base, key string) *Client {
	return &Client{
		base: strings.TrimSuffix(base, "/"), key: key, Tries: 3, UserAgent: "feedmill-client",
		HTTP: &http.Client{
			// The test of a subscription alone may take a minute.
			Timeout:       90 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

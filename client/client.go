// Package client is the API in Go: typed calls, problems as errors, lists as
// iterators.
//
//	c := client.New("http://127.0.0.1:8080", key)
//	made, err := c.CreateKey(ctx, client.NewKey{Name: "dashboard", Scopes: []string{"api:read"}})
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Client calls one server with one credential. It may be used from any goroutine.
type Client struct {
	base string
	key  string
	// HTTP makes the requests.
	HTTP *http.Client
}

// New makes a client for the server at base, such as http://127.0.0.1:8080.
func New(base, key string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), key: key, HTTP: &http.Client{Timeout: time.Minute}}
}

// Problem is an error that the server answered with (RFC 9457).
type Problem struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Detail    string  `json:"detail"`
	Instance  string  `json:"instance"`
	RequestID string  `json:"requestId"`
	Errors    []Fault `json:"errors"`
}

// Fault is one place of the request that is wrong.
type Fault struct {
	Pointer   string `json:"pointer"`
	Parameter string `json:"parameter"`
	Header    string `json:"header"`
	Detail    string `json:"detail"`
}

func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d): %s", p.Title, p.Status, p.Detail)
	for _, f := range p.Errors {
		fmt.Fprintf(&b, "\n  %s%s%s: %s", f.Pointer, f.Parameter, f.Header, f.Detail)
	}
	if p.RequestID != "" {
		fmt.Fprintf(&b, "\n  request id: %s", p.RequestID)
	}
	return b.String()
}

// maxAnswer bounds what is read of an answer that is not streamed.
const maxAnswer = 64 << 20

// call makes a request and decodes the answer into out, where it is not nil.
func (c *Client) call(ctx context.Context, method, path string, in, out any) (http.Header, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: reading the answer: %w", method, path, err)
	}
	if resp.StatusCode >= 300 {
		p := &Problem{Status: resp.StatusCode, Title: http.StatusText(resp.StatusCode)}
		if json.Unmarshal(text, p) != nil {
			p.Detail = "The server did not answer as Feedmill does; check its address."
		}
		return nil, p
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return nil, fmt.Errorf("%s %s: the answer cannot be read: %w", method, path, err)
		}
	}
	return resp.Header, nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; *rel="next"`)

// list goes through a list page by page, from its beginning each time.
func list[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return func(yield func(T, error) bool) {
		for next := path; next != ""; {
			var page []T
			header, err := c.call(ctx, http.MethodGet, next, nil, &page)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			next = ""
			if m := nextLink.FindStringSubmatch(header.Get("Link")); m != nil {
				next = m[1]
			}
		}
	}
}

// one is the envelope of a single resource.
type one[T any] struct {
	Data T `json:"data"`
}

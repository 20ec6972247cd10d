package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// request is one call of the API, which may take several tries.
type request struct {
	method string
	// path is relative to the server, with the query.
	path        string
	body        []byte
	contentType string
	// open, where not nil, gives the body anew for every try, and size is how
	// long it is, 0 where that is not known. header is sent besides.
	open   func() (io.Reader, error)
	size   int64
	header map[string]string
	// once is the Idempotency-Key, for a POST.
	once string
	// single says that no second try is wanted.
	single bool
}

// A CallOption changes one call.
type CallOption func(*request)

// IdempotencyKey names a call, with 1 to 255 visible ASCII characters. For 24
// hours the same call under the same key gives the first answer again and has
// no second effect, whichever process makes it. Without this option a call has
// a key of its own; with an empty key it has none, and is made once.
func IdempotencyKey(key string) CallOption { return func(r *request) { r.once = key } }

// AcceptUnexpected has a refresh or an upload take rows that are not what is expected of the
// feed, this once.
func AcceptUnexpected() CallOption { return parameter("accept=true") }

// Force deletes a feed that other feeds are built from. Their refreshes fail from then on.
func Force() CallOption { return parameter("force=true") }

// parameter adds a query parameter.
func parameter(text string) CallOption {
	return func(r *request) {
		separator := "?"
		if strings.Contains(r.path, "?") {
			separator = "&"
		}
		r.path += separator + text
	}
}

// call makes a request with in as JSON, where it is not nil, and decodes the
// answer into out, where that is not nil.
func (c *Client) call(ctx context.Context, method, path string, in, out any, opts ...CallOption) (http.Header, error) {
	r := request{method: method, path: path}
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		r.body, r.contentType = text, "application/json"
	}
	return c.exchange(ctx, r, out, opts...)
}

// ask is call for an answer that is one record.
func ask[T any](ctx context.Context, c *Client, method, path string, in any, opts ...CallOption) (T, error) {
	var out one[T]
	_, err := c.call(ctx, method, path, in, &out, opts...)
	return out.Data, err
}

// exchange makes a request and decodes the answer into out, where it is not nil.
func (c *Client) exchange(ctx context.Context, r request, out any, opts ...CallOption) (http.Header, error) {
	if r.method == http.MethodPost {
		r.once = rand.Text()
	}
	for _, o := range opts {
		o(&r)
	}
	text, header, err := c.fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return nil, fmt.Errorf("%s %s: the response cannot be read: %w", r.method, r.path, err)
		}
	}
	return header, nil
}

// fetch makes a request and reads the whole answer. An answer that breaks off
// is a try that failed.
func (c *Client) fetch(ctx context.Context, r request) (text []byte, header http.Header, err error) {
	err = c.repeat(ctx, r, func() error {
		resp, err := c.try(ctx, r)
		if err != nil {
			return err
		}
		header = resp.Header
		text, err = readAll(r, resp)
		return err
	})
	return text, header, err
}

// maxAnswer bounds what is read of an answer that is not streamed.
const maxAnswer = 64 << 20

func readAll(r request, resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: reading the response: %w", r.method, r.path, err)
	}
	return text, nil
}

// try makes a request once. The answer is a good one, with a body that is
// still to be read and closed, or else the error is a [*Problem].
func (c *Client) try(ctx context.Context, r request) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	if r.open != nil {
		var err error
		if body, err = r.open(); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		body = io.NopCloser(body) // the next try needs it
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	for name, value := range map[string]string{"Content-Type": r.contentType, "Idempotency-Key": r.once, "User-Agent": c.UserAgent} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if r.size > 0 {
		req.ContentLength = r.size
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	text, err := readAll(r, resp)
	if err != nil {
		return nil, err
	}
	return nil, problemOf(resp, text)
}

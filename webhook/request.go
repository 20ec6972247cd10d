package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The most that a delivery can hold: the body of a POST, and the query of a GET.
const (
	maxBody  = 1 << 20
	maxQuery = 8 << 10
)

// readPayload takes the signed text out of a request.
func readPayload(r *http.Request) ([]byte, error) {
	switch r.Method {
	case http.MethodPost:
		return readBody(r)
	case http.MethodGet:
		return queryPayload(r.URL.RawQuery)
	}
	return nil, ErrMethod
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, fmt.Errorf("%w: the body must have at most %d bytes", ErrTooLarge, maxBody)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || len(body) > maxBody {
		return nil, fmt.Errorf("%w: the body must have at most %d bytes", ErrTooLarge, maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	return body, nil
}

// queryPayload decodes the last parameter with the name payload. Feedmill puts
// it behind the query that the subscription's URL has, whatever that is, so the
// other parameters need not have a form that anybody can read.
func queryPayload(query string) ([]byte, error) {
	if len(query) > maxQuery {
		return nil, fmt.Errorf("%w: the query must have at most %d bytes", ErrTooLarge, maxQuery)
	}
	const parameter = "payload="
	i := strings.LastIndex("&"+query, "&"+parameter)
	if i < 0 {
		return nil, fmt.Errorf("%w: the query parameter payload is missing", ErrMalformed)
	}
	value, _, _ := strings.Cut(query[i+len(parameter):], "&")
	text, err := url.QueryUnescape(value)
	if err != nil {
		return nil, fmt.Errorf("%w: the query parameter payload is not percent-encoded", ErrMalformed)
	}
	return []byte(text), nil
}

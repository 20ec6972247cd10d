package webhook

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// errURLTooLong is the reason of a GET delivery that does not fit into a URL.
var errURLTooLong = errors.New("the payload does not fit into a GET request: its URL would exceed 8 KiB")

// request is the HTTP request of an attempt.
func (e *endpoint) request(m feedmill.Message) (r feedmill.HTTPRequest, err error) {
	if e.url == nil {
		return r, errors.New("the subscription's URL is not valid")
	}
	r = feedmill.HTTPRequest{Workspace: e.workspace, Method: e.method, URL: e.url, Header: append(m.Header, e.header...), Body: m.Payload, TLS: e.tls}
	if e.method == http.MethodGet {
		r.Header = slices.DeleteFunc(r.Header, func(h [2]string) bool { return h[0] == "Content-Type" })
		r.URL, err = withPayload(e.url, m.Payload)
		r.Body = nil
	}
	return r, err
}

// withPayload puts the payload into the query, behind whatever stands there.
func withPayload(endpoint *url.URL, payload []byte) (*url.URL, error) {
	u := *endpoint
	if u.RawQuery != "" && !strings.HasSuffix(u.RawQuery, "&") {
		u.RawQuery += "&"
	}
	u.RawQuery += "payload=" + strings.ReplaceAll(url.QueryEscape(string(payload)), "+", "%20")
	if len(u.String()) > feedmill.MaxGetURL {
		return nil, errURLTooLong
	}
	return &u, nil
}

package deliver

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// errURLTooLong is the reason of a GET delivery that does not fit into a URL.
var errURLTooLong = errors.New("the payload does not fit into a GET request: its URL would pass 8 KiB")

// ownHeaders is how many headers an attempt has at most, without those that the
// subscriber wants.
const ownHeaders = 10

// request is the HTTP request of an attempt.
func (s *Sender) request(t Target, m Message) (r feedmill.HTTPRequest, err error) {
	endpoint := t.endpoint
	if endpoint == nil {
		if endpoint, err = url.Parse(t.URL); err != nil {
			return r, errors.New("the subscription's URL cannot be used")
		}
	}
	r = feedmill.HTTPRequest{
		Workspace: t.Workspace, Method: t.Method, URL: endpoint,
		Header: make([][2]string, 0, len(t.Headers)+ownHeaders), Body: m.Payload,
	}
	set := func(name, value string) { r.Header = append(r.Header, [2]string{name, value}) }
	for name, value := range t.Headers {
		set(name, value)
	}
	if t.Method == http.MethodGet {
		if r.URL, err = withPayload(endpoint, m.Payload); err != nil {
			return r, err
		}
		r.Body = nil
	} else {
		set("Content-Type", "application/json")
	}
	set("User-Agent", s.UserAgent)
	set("X-Service-Event", m.Type)
	set("X-Service-Delivery", string(m.Delivery))
	set("X-Service-Attempt", strconv.Itoa(m.Attempt))
	sign(set, t, m)
	return r, nil
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

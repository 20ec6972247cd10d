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

// request is the HTTP request of an attempt.
type request struct {
	method string
	url    *url.URL
	header [][2]string // names in their canonical form
	body   []byte
}

// ownHeaders is how many headers an attempt has at most, without those that the
// subscriber wants.
const ownHeaders = 10

func (s *Sender) request(t Target, m Message) (r request, err error) {
	endpoint := t.endpoint
	if endpoint == nil {
		if endpoint, err = url.Parse(t.URL); err != nil {
			return r, errors.New("the subscription's URL cannot be used")
		}
	}
	r = request{method: t.Method, url: endpoint, header: make([][2]string, 0, len(t.Headers)+ownHeaders), body: m.Payload}
	for name, value := range t.Headers {
		r.set(name, value)
	}
	if t.Method == http.MethodGet {
		if r.url, err = withPayload(endpoint, m.Payload); err != nil {
			return r, err
		}
		r.body = nil
	} else {
		r.set("Content-Type", "application/json")
	}
	r.set("User-Agent", s.UserAgent)
	r.set("X-Service-Event", m.Type)
	r.set("X-Service-Delivery", string(m.Delivery))
	r.set("X-Service-Attempt", strconv.Itoa(m.Attempt))
	sign(r.set, t, m)
	return r, nil
}

func (r *request) set(name, value string) { r.header = append(r.header, [2]string{name, value}) }

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

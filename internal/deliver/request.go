package deliver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
)

// errURLTooLong is the reason of a GET delivery that does not fit into a URL.
var errURLTooLong = errors.New("the payload does not fit into a GET request: its URL would pass 8 KiB")

// request builds the HTTP request of an attempt.
func (s *Sender) request(ctx context.Context, t Target, m Message) (req *http.Request, err error) {
	if t.Method == http.MethodGet {
		address := withPayload(t.URL, m.Payload)
		if len(address) > feedmill.MaxGetURL {
			return nil, errURLTooLong
		}
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	} else {
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(m.Payload))
	}
	if err != nil {
		return nil, errors.New("the subscription's URL cannot be used")
	}
	h := req.Header
	for name, value := range t.Headers {
		h.Set(name, value)
	}
	if t.Method != http.MethodGet {
		h.Set("Content-Type", "application/json")
	}
	h.Set("User-Agent", s.UserAgent)
	h.Set("X-Service-Event", m.Type)
	h.Set("X-Service-Delivery", string(m.Delivery))
	h.Set("X-Service-Attempt", strconv.Itoa(m.Attempt))
	sign(h, t.Secrets, m)
	return req, nil
}

// withPayload puts the payload into the query, behind whatever stands there.
func withPayload(address string, payload []byte) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
		if strings.HasSuffix(address, "?") || strings.HasSuffix(address, "&") {
			separator = ""
		}
	}
	return address + separator + "payload=" + strings.ReplaceAll(url.QueryEscape(string(payload)), "+", "%20")
}

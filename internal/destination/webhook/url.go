package webhook

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/fault"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readURL reads a callback URL and notes all that is wrong with it. Nothing of
// it is repeated but the host: the rest can hold a secret.
func (k *Kind) readURL(f strictjson.Field) (text string, ok bool) {
	if text, ok = f.Text(); !ok {
		return "", false
	}
	note := func(detail string) {
		f.Fault(detail)
		ok = false
	}
	if len(text) > feedmill.MaxSubscriptionURL {
		note(fmt.Sprintf("url must have at most %d bytes.", feedmill.MaxSubscriptionURL))
	}
	u, err := url.Parse(text)
	if err != nil || !isPrintable(text) {
		note("url must be an ASCII URL such as https://example.com/hook. Percent-encode special characters.")
		return text, false
	}
	if u.User != nil {
		note("url must not contain a user name or password. Use delivery.headers for credentials.")
	}
	if strings.Contains(text, "#") {
		note("url must not have a fragment.")
	}
	if err := k.URLs.CheckURL(u); err != nil {
		note("url is not valid: " + fault.WithoutKind(err) + ".")
	}
	return text, ok
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && strings.EqualFold(u.Hostname(), v.Hostname()) && port(u) == port(v)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// clashesWithPayload reports whether a URL has the query parameter in which a
// GET delivery carries its payload.
func clashesWithPayload(text, method string) bool {
	_, query, ok := strings.Cut(text, "?")
	if !ok || method != http.MethodGet {
		return false
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if name == "payload" {
			return true
		}
	}
	return false
}

const payloadClash = "url must not have the query parameter payload if httpOperation is GET: each delivery adds it."

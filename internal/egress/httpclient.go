package egress

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const (
	defaultTimeout = 30 * time.Second
	maxRedirects   = 5
	// maxClientBody is far larger than any token, key set or discovery document.
	maxClientBody = 8 << 20
)

// HTTPClient returns a client for libraries that read whole responses, such as those for
// OAuth and OIDC. Reuse it: each client has a connection pool of its own.
//
// An exchange with its redirects and its body takes at most timeout (30 s if it is not
// positive), and a body has at most 8 MiB ([ErrTooLarge]). The client follows at most five
// redirects, none from https to http, and none that would send a request body, which can
// contain a secret, to another origin.
func (c *Client) HTTPClient(timeout time.Duration) *http.Client {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return &http.Client{
		Transport:     limitedTransport{c.Transport()},
		CheckRedirect: checkRedirect,
		Timeout:       timeout,
	}
}

// checkRedirect decides whether to follow a redirect. net/http itself removes credentials in
// headers when the domain changes.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	last := via[len(via)-1].URL
	if last.Scheme == "https" && r.URL.Scheme != "https" {
		return fmt.Errorf("a redirect from https to %s is %w", r.URL.Scheme, ErrForbidden)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !sameOrigin(last, r.URL) {
		return fmt.Errorf("a redirect that repeats a %s to another origin is %w", r.Method, ErrForbidden)
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// limitedTransport limits the bodies of responses.
type limitedTransport struct{ *http.Transport }

// RoundTrip sends the request and returns a response whose body is limited and
// decompressed. As net/http does, it then removes the headers of the compressed body.
func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = LimitedBody(resp, maxClientBody)
	if resp.Header.Get("Content-Encoding") != "" && r.Method != http.MethodHead {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Uncompressed = true
	}
	return resp, nil
}

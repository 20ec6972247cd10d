package fetch

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// transports are those with certificates of their own, by the hash of these.
type transports struct {
	mu sync.Mutex
	of map[string]*http.Transport
}

// maxTransports is how many of them are kept.
const maxTransports = 256

// transport sends a request of a source to a place.
func (f *Fetcher) transport(s *spec.Spec, to *url.URL) http.RoundTripper {
	if !s.TLS.Covers(to) || f.Options.Secure == nil {
		return f.Options.Transport
	}
	f.secured.mu.Lock()
	defer f.secured.mu.Unlock()
	if t := f.secured.of[s.TLS.Hash]; t != nil {
		return t
	}
	if f.secured.of == nil || len(f.secured.of) >= maxTransports {
		for _, t := range f.secured.of {
			t.CloseIdleConnections()
		}
		f.secured.of = make(map[string]*http.Transport)
	}
	t := f.Options.Secure(s.TLS.Authorities, s.TLS.Certificate)
	f.secured.of[s.TLS.Hash] = t
	return t
}

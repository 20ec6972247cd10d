package rest

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// maxPEM is how many bytes of certificates or of a key a definition may have.
const maxPEM = 64 << 10

// secured is how a source is reached over TLS where that is not as usual.
type secured struct {
	// authorities verify the servers, nil for those of the system, and certificate is what
	// they are shown, nil for none.
	authorities *x509.CertPool
	certificate *tls.Certificate
	// hash tells settings apart.
	hash string
	// origins are the places that the definition names. No other is shown the certificate.
	origins []*url.URL
}

// readTLS reads the certificates of a source; nil where it has none.
func readTLS(o *object) *secured {
	in := o.object("tls")
	if in == nil {
		return nil
	}
	authority, certificate, key := in.pem("caCert"), in.pem("clientCert"), in.pem("clientKey")
	if in.Has("clientKey") {
		in.secret("clientKey")
	}
	in.RefuseUnknown()
	s := new(secured)
	if authority != "" {
		if s.authorities = x509.NewCertPool(); !s.authorities.AppendCertsFromPEM([]byte(authority)) {
			in.unreadable("caCert", "caCert has no certificate that can be read.")
		}
	}
	switch {
	case !in.Has("clientCert") && !in.Has("clientKey"):
	case !in.Has("clientCert"):
		in.unreadable("clientCert", "clientKey needs clientCert.")
	case !in.Has("clientKey"):
		in.unreadable("clientKey", "clientCert needs clientKey.")
	case certificate != "" && key != "":
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil { // Its text may have parts of the key.
			in.unreadable("clientKey", "clientCert and clientKey must be a certificate and its own private key, without a passphrase.")
		}
		s.certificate = &pair
	}
	sum := sha256.New()
	for _, text := range []string{authority, certificate, key} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	s.hash = hex.EncodeToString(sum.Sum(nil))
	return s
}

// pem reads certificates or a key. Its faults have nothing of the text.
func (o *object) pem(name string) string {
	f, ok := o.Given(name)
	if !ok {
		return ""
	}
	text, ok := f.Text()
	if !ok || isHidden(f.Value) {
		return ""
	}
	if len(text) > maxPEM {
		o.Fault(name, fmt.Sprintf("%s must be at most %d KiB.", name, maxPEM>>10))
	}
	if block, _ := pem.Decode([]byte(text)); block == nil {
		o.unreadable(name, name+" must be PEM: text that begins with a line such as -----BEGIN CERTIFICATE-----.")
		return ""
	}
	return text
}

// secure gives the certificates the places that they are for.
func (s *Spec) secure(o *object) {
	if s.tls == nil {
		return
	}
	for _, u := range (&Definition{Spec: s}).URLs() {
		s.tls.origins = append(s.tls.origins, u.URL)
	}
	if s.request.origin != nil && s.request.origin.Scheme == "http" {
		o.Fault("tls", "tls applies only to https; request.url has http.")
	}
}

// covers reports whether a place is one that the certificates are for.
func (s *secured) covers(u *url.URL) bool {
	return s != nil && slices.ContainsFunc(s.origins, func(origin *url.URL) bool { return sameOrigin(u, origin) })
}

// transports are those with certificates of their own, by the hash of these.
type transports struct {
	mu sync.Mutex
	of map[string]*http.Transport
}

// maxTransports is how many of them are kept.
const maxTransports = 256

// transport sends a request of a source to a place.
func (f *Fetcher) transport(s *Spec, to *url.URL) http.RoundTripper {
	if !s.tls.covers(to) || f.options.Secure == nil {
		return f.options.Transport
	}
	f.secured.mu.Lock()
	defer f.secured.mu.Unlock()
	if t := f.secured.of[s.tls.hash]; t != nil {
		return t
	}
	if f.secured.of == nil || len(f.secured.of) >= maxTransports {
		for _, t := range f.secured.of {
			t.CloseIdleConnections()
		}
		f.secured.of = make(map[string]*http.Transport)
	}
	t := f.options.Secure(s.tls.authorities, s.tls.certificate)
	f.secured.of[s.tls.hash] = t
	return t
}

package spec

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
)

// maxPEM is how many bytes of certificates or of a key a definition may have.
const maxPEM = 64 << 10

// TLS is how a source is reached over TLS where that is not as usual.
type TLS struct {
	// Authorities verify the servers, nil for those of the system, and certificate is what
	// they are shown, nil for none.
	Authorities *x509.CertPool
	Certificate *tls.Certificate
	// Hash tells settings apart.
	Hash string
	// origins are the places that the definition names. No other is shown the certificate.
	origins []*url.URL
}

// readTLS reads the certificates of a source; nil where it has none.
func readTLS(o *object) *TLS {
	in := o.object("tls")
	if in == nil {
		return nil
	}
	authority, certificate, key := in.pem("caCert"), in.pem("clientCert"), in.pem("clientKey")
	if in.Has("clientKey") {
		in.secret("clientKey")
	}
	in.RefuseUnknown()
	s := new(TLS)
	if authority != "" {
		if s.Authorities = x509.NewCertPool(); !s.Authorities.AppendCertsFromPEM([]byte(authority)) {
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
		s.Certificate = &pair
	}
	sum := sha256.New()
	for _, text := range []string{authority, certificate, key} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	s.Hash = hex.EncodeToString(sum.Sum(nil))
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
	if s.TLS == nil {
		return
	}
	for _, u := range (&Definition{Spec: s}).URLs() {
		s.TLS.origins = append(s.TLS.origins, u.URL)
	}
	if s.Request.Origin != nil && s.Request.Origin.Scheme == "http" {
		o.Fault("tls", "tls applies only to https; request.url has http.")
	}
}

// Covers reports whether a place is one that the certificates are for.
func (s *TLS) Covers(u *url.URL) bool {
	return s != nil && slices.ContainsFunc(s.origins, func(origin *url.URL) bool { return SameOrigin(u, origin) })
}

package webhook

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// certificates are the TLS settings of a webhook, as PEM texts.
type certificates struct {
	CACert     string `json:"caCert,omitzero"`
	ClientCert string `json:"clientCert,omitzero"`
	ClientKey  string `json:"clientKey,omitzero"`
}

// readCertificates reads delivery.tls, which replaces the old certificates as a whole. The
// text [feedmill.Hidden] keeps the old key. A fault has nothing of a text.
func readCertificates(f strictjson.Field, old *certificates, target string) *certificates {
	if f.Kind == 'n' {
		return nil
	}
	o, ok := f.Object()
	if !ok {
		return nil
	}
	defer o.RefuseUnknown()
	c := new(certificates)
	whole := true
	read := func(name string, into *string) {
		if f, ok := o.Given(name); ok {
			text, ok := feedmill.ReadPEM(f)
			*into, whole = text, whole && ok
		}
	}
	read("caCert", &c.CACert)
	read("clientCert", &c.ClientCert)
	read("clientKey", &c.ClientKey)
	if c.ClientKey == feedmill.Hidden {
		if c.ClientKey = ""; old == nil || old.ClientKey == "" {
			whole = false
			o.Fault("clientKey", "The key has no stored value to keep. Set its value.")
		} else {
			c.ClientKey = old.ClientKey
		}
	}
	if !whole {
		return c
	}
	if *c == (certificates{}) {
		f.Fault("tls must have caCert, or clientCert and clientKey. Set it to null for none.")
	}
	if u, err := url.Parse(target); err == nil && u.Scheme == "http" {
		f.Fault("tls requires a URL with https.")
	}
	c.check(o, time.Now())
	return c
}

// check notes certificates that cannot be used.
func (c *certificates) check(o *strictjson.Object, now time.Time) {
	if c.CACert != "" {
		if detail := checkAuthorities(c.CACert, now); detail != "" {
			o.Fault("caCert", detail)
		}
	}
	switch {
	case c.ClientCert == "" && c.ClientKey == "":
	case c.ClientCert == "":
		o.Fault("clientCert", "clientKey requires clientCert.")
	case c.ClientKey == "":
		o.Fault("clientKey", "clientCert requires clientKey.")
	default:
		pair, err := tls.X509KeyPair([]byte(c.ClientCert), []byte(c.ClientKey))
		if err != nil { // whose text may have parts of the key
			o.Fault("clientKey", "clientCert and clientKey must be a certificate and its private key, without a passphrase.")
		} else if ends := pair.Leaf.NotAfter; now.After(ends) {
			o.Fault("clientCert", fmt.Sprintf("clientCert expired on %s. Set a valid certificate.", ends.UTC().Format(time.DateOnly)))
		}
	}
}

// checkAuthorities describes what is wrong with certificate authorities; it is empty if at
// least one is valid and all can be parsed.
func checkAuthorities(text string, now time.Time) string {
	var last time.Time
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return "caCert must contain only certificates."
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "caCert does not contain a valid certificate."
		}
		if c.NotAfter.After(last) {
			last = c.NotAfter
		}
	}
	if now.After(last) {
		return fmt.Sprintf("caCert expired on %s. Set a valid certificate.", last.UTC().Format(time.DateOnly))
	}
	return ""
}

// open prepares the certificates for connections.
func (c *certificates) open() (*feedmill.ClientTLS, error) {
	if c == nil {
		return nil, nil
	}
	sum := sha256.New()
	for _, text := range []string{c.CACert, c.ClientCert, c.ClientKey} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	s := &feedmill.ClientTLS{ID: hex.EncodeToString(sum.Sum(nil)), Authorities: c.CACert}
	if c.ClientCert != "" {
		pair, err := tls.X509KeyPair([]byte(c.ClientCert), []byte(c.ClientKey))
		if err != nil {
			return nil, errors.New("the client certificate cannot be used") // the cause can have parts of the key
		}
		s.Certificate = &pair
	}
	return s, nil
}

// expired describes a client certificate that has expired; it is empty for others.
func expired(s *feedmill.ClientTLS, now time.Time) string {
	if s == nil || s.Certificate == nil || !now.After(s.Certificate.Leaf.NotAfter) {
		return ""
	}
	return "; the client certificate expired on " + s.Certificate.Leaf.NotAfter.UTC().Format(time.DateOnly)
}

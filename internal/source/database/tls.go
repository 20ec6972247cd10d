package database

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// TLSConfig is how a connection to the server is protected: the server's certificate is
// verified, its name included.
func (c Config) TLSConfig() (*tls.Config, error) {
	secure := &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12}
	if c.CACert != "" {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM([]byte(c.CACert)) {
			return nil, errors.New("caCert contains no certificate")
		}
	}
	if c.ClientCert != "" {
		pair, err := tls.X509KeyPair([]byte(c.ClientCert), []byte(c.ClientKey))
		if err != nil {
			return nil, errors.New("clientCert and clientKey do not match") // the cause may have parts of the key
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}

// TLSAdvice says what to do about an error of the handshake, empty where it is not one.
func TLSAdvice(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return " Set caCert to the certificate of the authority that signed the server's certificate."
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf(" Connect to a host that the certificate names, not %s.", wrong.Host)
	}
	return ""
}

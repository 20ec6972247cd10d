// Package fault describes what went wrong with a destination in words for the subscriber.
// The texts of errors are not for them: they can name addresses inside the network.
package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
)

// TLS describes a failure of TLS; it is empty if something else failed. What an endpoint
// reports in an alert is from a fixed list of words.
func TLS(err error) string {
	var (
		verify  *tls.CertificateVerificationError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the endpoint's certificate has expired, or is not valid yet"
	case errors.As(err, &name):
		return "the endpoint's certificate is not for this host"
	case errors.As(err, &unknown):
		return "the endpoint's certificate is not signed by a trusted authority, or an intermediate certificate is missing"
	case errors.As(err, &verify):
		return "the endpoint's certificate is not accepted"
	case errors.As(err, &record):
		return "the endpoint does not use TLS on this port"
	case errors.As(err, &op) && op.Op == "remote error":
		return "the endpoint reported: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	case errors.As(err, &op) && op.Op == "local error":
		return "the endpoint's protocol is not accepted"
	}
	return ""
}

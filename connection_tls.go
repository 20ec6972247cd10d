package feedmill

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// maxPEM is how many bytes of certificates or of a key a connection may have.
const maxPEM = 64 << 10

// WarnUnverifiedTLS is the code of the warning about a connection that does not verify
// who it talks to.
const WarnUnverifiedTLS = "unverified-tls"

// tlsSettings are the settings with which a connection is protected: the mode, whose
// default is another for hosts other than loopback, and certificates.
func tlsSettings(mode, local, remote string, words ...string) []ConnectorSetting {
	return []ConnectorSetting{
		{Name: mode, Default: local, Remote: remote, Words: words},
		{Name: "caCert", PEM: true},
		{Name: "clientCert", PEM: true},
		{Name: "clientKey", PEM: true, Secret: true},
	}
}

// verifying are the modes in which the certificate of the server is verified.
var verifying = []string{"verify-ca", "verify-full", "on"}

// tlsMode is the setting that protects the connections of a connector.
func (c Connector) tlsMode() (ConnectorSetting, bool) {
	i := slices.IndexFunc(c.Settings, func(s ConnectorSetting) bool { return s.Remote != "" })
	if i < 0 {
		return ConnectorSetting{}, false
	}
	return c.Settings[i], true
}

// ReadPEM reads certificates or a key; [Hidden] stays as it is. Its faults have nothing of the text.
func ReadPEM(f strictjson.Field) (string, bool) {
	text, ok := f.Text()
	if !ok || text == Hidden {
		return text, ok
	}
	if len(text) > maxPEM {
		f.Fault(fmt.Sprintf("Must be PEM of at most %d KiB.", maxPEM>>10))
		return "", false
	}
	if block, _ := pem.Decode([]byte(text)); block == nil {
		f.Fault("Must be PEM: text that starts with a line such as -----BEGIN CERTIFICATE-----.")
		return "", false
	}
	return text, true
}

// checkTLS notes certificates that cannot be used.
func (c Connector) checkTLS(o *strictjson.Object, config ConnectionConfig) {
	s, ok := c.tlsMode()
	if !ok {
		return
	}
	mode := s.of(config)
	authority, certificate, key := config["caCert"], config["clientCert"], config["clientKey"]
	if authority != "" {
		switch {
		case !slices.Contains(verifying, mode):
			o.Fault("caCert", fmt.Sprintf("caCert is used only if the server's certificate is verified, and %s is %s. Set %s to %s.", s.Name, mode, s.Name, s.Remote))
		case !x509.NewCertPool().AppendCertsFromPEM([]byte(authority)):
			o.Fault("caCert", "caCert does not contain a valid certificate.")
		}
	}
	switch {
	case certificate == "" && key == "":
	case certificate == "":
		o.Fault("clientCert", "clientKey requires clientCert.")
	case key == "":
		o.Fault("clientKey", "clientCert requires clientKey.")
	case mode == "disable" || mode == "off":
		o.Fault("clientCert", fmt.Sprintf("clientCert is used only with TLS, and %s is %s.", s.Name, mode))
	default:
		if _, err := tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil { // whose text may have parts of the key
			o.Fault("clientKey", "clientCert and clientKey must be a certificate and its private key, without a passphrase.")
		}
	}
}

// IsLocalHost reports whether a host is this machine: a loopback address, or a name that
// is reserved for one.
func IsLocalHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Warnings are what a user should know about a connection.
func (c Connection) Warnings() []Warning {
	kind, _ := FindConnector(c.Connector)
	s, ok := kind.tlsMode()
	var config struct{ Host, SSLMode, TLS string }
	if !ok || json.Unmarshal(c.Config, &config) != nil || IsLocalHost(config.Host) {
		return nil
	}
	mode := config.SSLMode + config.TLS
	if mode == "" {
		mode = s.Default
	}
	if slices.Contains(verifying, mode) {
		return nil
	}
	return []Warning{{Code: WarnUnverifiedTLS, Detail: fmt.Sprintf("The server's certificate is not verified, because %s is %s. Set %s to %s. For a private certificate authority, set caCert.", s.Name, mode, s.Name, s.Remote)}}
}

package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// Certificate is the server's TLS certificate. When its files are replaced, new connections
// use the new certificate without a restart.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	checkedAt time.Time
	// read describes the files that were last read, whether they were valid or not.
	read    [2]os.FileInfo
	current *tls.Certificate
}

// checkEvery is the minimum interval between checks of the files.
const checkEvery = time.Second

// NewCertificate reads a certificate and its key.
func NewCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log, checkedAt: time.Now()}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the files if they have changed.
func (c *Certificate) load() error {
	cert, err := os.Stat(c.certFile)
	if err != nil {
		return fmt.Errorf("tlsCert: %w", err)
	}
	key, err := os.Stat(c.keyFile)
	if err != nil {
		return fmt.Errorf("tlsKey: %w", err)
	}
	if sameFile(c.read[0], cert) && sameFile(c.read[1], key) {
		return nil
	}
	c.read = [2]os.FileInfo{cert, key}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("tlsCert and tlsKey: %w; they must be PEM files: the certificate with its intermediates, and its private key", err)
	}
	c.current = &pair
	return nil
}

// sameFile reports whether a file is unchanged.
func sameFile(was, is os.FileInfo) bool {
	return was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

// get returns the certificate for a new connection. If the files cannot be read, for
// example because only one of them was replaced, it returns the previous certificate.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checkedAt) >= checkEvery {
		c.checkedAt = now
		if err := c.load(); err != nil {
			c.log.Warn("reading the new TLS certificate failed; the old one stays in use", "error", err)
		}
	}
	return c.current, nil
}

// OverTLS wraps a listener with TLS. It offers HTTP/1.1 only, because limits are per
// connection.
func (c *Certificate) OverTLS(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}})
}

// CertificateExpiry reads a certificate and its key, and returns when the certificate expires.
func CertificateExpiry(certFile, keyFile string) (time.Time, error) {
	c, err := NewCertificate(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		return time.Time{}, err
	}
	return c.current.Leaf.NotAfter, nil
}

// IsLoopback reports whether only this machine can connect to an address to listen on.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

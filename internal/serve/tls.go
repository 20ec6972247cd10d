package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// Certificate is the server's. Whoever renews it replaces the files, and the
// next connections get the new one without a restart.
type Certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	looked time.Time
	// read is the pair of files as they were when they were last read, whether
	// there was a certificate in them or not.
	read    [2]os.FileInfo
	current *tls.Certificate
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// NewCertificate reads a certificate and its key.
func NewCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the files where they are not those that were read last.
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
		return fmt.Errorf("tlsCert and tlsKey: %w; they must be PEM files, the certificate with its intermediates and the key that belongs to it", err)
	}
	c.current = &pair
	return nil
}

// sameFile reports whether a file is as it was.
func sameFile(was, is os.FileInfo) bool {
	return was != nil && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

// get is the certificate for a new connection. One that cannot be read, such as
// half of a new one, leaves the old one in place.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		if err := c.load(); err != nil {
			c.log.Warn("the new TLS certificate cannot be read, the old one is used", "error", err)
		}
	}
	return c.current, nil
}

// OverTLS has a listener speak TLS. It offers HTTP/1.1 alone: what one client
// may hold open is bounded by connections.
func (c *Certificate) OverTLS(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}})
}

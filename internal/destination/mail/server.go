package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/feedmill/feedmill/internal/share"
)

const (
	// maxConnections is the maximum number of connections to the server, and maxEach that
	// which the messages of one workspace use.
	maxConnections = 8
	maxEach        = 4
	// maxWaiting is how many messages may wait for a connection.
	maxWaiting = 4096
	// idleTime is how long a connection stays open that nobody uses.
	idleTime = 30 * time.Second
)

// Server is the operator's SMTP server. The egress policy does not apply to it: the operator
// chose its address, and users cannot.
type Server struct {
	// From is the address of the sender.
	From address

	host, port string
	tls        tlsMode
	user       *url.Userinfo
	roots      *x509.CertPool
	slots      *share.Slots

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// tlsMode is how connections are encrypted.
type tlsMode uint8

const (
	tlsOffered  tlsMode = iota // STARTTLS if the server offers it
	tlsRequired                // STARTTLS
	tlsImplicit                // from the first byte
	tlsOff
)

// NewServer reads the settings smtpUrl and smtpFrom. The error names the setting and repeats no
// part of the URL, which can have a password.
func NewServer(text, from string, roots *x509.CertPool) (*Server, error) {
	s := &Server{roots: roots, slots: share.NewSlots(maxConnections, maxEach, maxWaiting)}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("smtpUrl must be a URL such as smtp://user:password@smtp.example.com:587")
	}
	s.host, s.port, s.user = u.Hostname(), u.Port(), u.User
	query := u.Query()
	starttls := query.Get("starttls")
	if query.Del("starttls"); len(query) > 0 {
		return nil, errors.New("smtpUrl can have only the parameter starttls")
	}
	switch {
	case u.Scheme == "smtps" && starttls == "":
		s.tls = tlsImplicit
	case u.Scheme == "smtp" && starttls == "":
	case u.Scheme == "smtp" && starttls == "required":
		s.tls = tlsRequired
	case u.Scheme == "smtp" && starttls == "off":
		s.tls = tlsOff
	case u.Scheme == "smtp":
		return nil, errors.New("starttls in smtpUrl must be required or off")
	default:
		return nil, errors.New("smtpUrl must begin with smtp:// or smtps://; starttls is for smtp:// only")
	}
	if s.port == "" {
		s.port = map[bool]string{true: "465", false: "587"}[s.tls == tlsImplicit]
	}
	if s.From, err = parseAddress("mailto:" + from); err != nil {
		return nil, errors.New("smtpFrom must be an address such as feedmill@example.com")
	}
	return s, nil
}

// Close closes the connections that are idle. Others are closed when they become idle.
func (s *Server) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	for _, c := range idle {
		c.expiry.Stop()
		c.quit()
	}
}

// send sends a message. It returns when ctx ends. An error is a [failure] if the server
// responded.
func (s *Server) send(ctx context.Context, workspace string, to address, message []byte) error {
	release, err := s.slots.Take(share.For(ctx, workspace))
	if err != nil {
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	defer release()
	if c := s.takeIdle(); c != nil {
		err := c.send(ctx, s.From, to, message)
		s.putBack(c, err)
		if !isStale(err) || ctx.Err() != nil {
			return err
		}
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	err = c.send(ctx, s.From, to, message)
	s.putBack(c, err)
	return err
}

// errBusy reports that all connections were used until the end of the context.
var errBusy = errors.New("all connections are in use")

// takeIdle takes the connection that was used last; nil if there is none.
func (s *Server) takeIdle() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	c := s.idle[n-1]
	s.idle = s.idle[:n-1]
	c.expiry.Stop()
	return c
}

// putBack keeps a connection for another message, or closes it after a failure.
func (s *Server) putBack(c *conn, err error) {
	if err != nil && !c.reset(err) {
		c.close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.close()
		return
	}
	c.expiry = time.AfterFunc(idleTime, func() { s.expire(c) })
	s.idle = append(s.idle, c)
}

// expire closes a connection that is still idle.
func (s *Server) expire(c *conn) {
	s.mu.Lock()
	for i, other := range s.idle {
		if other == c {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			s.mu.Unlock()
			c.quit()
			return
		}
	}
	s.mu.Unlock()
}

// tlsConfig verifies the server.
func (s *Server) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.host, RootCAs: s.roots}
}

// isLocal reports whether the server is on this machine, where a password needs no TLS.
func (s *Server) isLocal() bool {
	ip := net.ParseIP(s.host)
	return s.host == "localhost" || ip != nil && ip.IsLoopback()
}

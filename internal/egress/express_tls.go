package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"reflect"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// handshakeTimeout has the value of [Client.Transport].
const handshakeTimeout = 10 * time.Second

// handshaker opens TLS connections.
type handshaker struct {
	config   *tls.Config
	sessions tls.ClientSessionCache
	// onlyHTTP2 has the hosts that do not support HTTP/1.1.
	onlyHTTP2 hostSet
}

func newHandshaker(roots *x509.CertPool) *handshaker {
	return &handshaker{
		sessions: tls.NewLRUClientSessionCache(4096),
		config: &tls.Config{
			MinVersion: tls.VersionTLS12,
			RootCAs:    roots,
			// A request is sent as a whole; each small record would cost a write.
			DynamicRecordSizingDisabled: true,
		},
	}
}

// handshake starts TLS on a connection and offers one protocol. It closes the socket on
// failure.
func (h *handshaker) handshake(ctx context.Context, socket net.Conn, r *feedmill.HTTPRequest, protocol string) (*tlsConn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	config := h.config.Clone()
	h.configure(config, r.Workspace, r.TLS)
	name := r.URL.Hostname()
	config.ServerName, config.NextProtos = name, []string{protocol}
	if host, err := parseHost(name); err == nil && host.name != "" {
		config.ServerName = host.name
	}
	records := &recordReader{Conn: socket}
	c := &tlsConn{Conn: tls.Client(records, config), records: records}
	if err := c.HandshakeContext(ctx); err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

// configure sets the certificates of a connection, and the TLS sessions that it can resume.
func (h *handshaker) configure(config *tls.Config, workspace feedmill.ID, s *feedmill.ClientTLS) {
	config.ClientSessionCache = sessions{h.sessions, string(workspace) + " " + tlsID(s)}
	if s == nil {
		return
	}
	if s.Authorities != "" {
		config.RootCAs = h.authorities(s)
	}
	if s.Certificate != nil {
		config.Certificates = []tls.Certificate{*s.Certificate}
	}
}

// authorities returns the certificate authorities of a connection.
func (h *handshaker) authorities(s *feedmill.ClientTLS) *x509.CertPool {
	pool := x509.NewCertPool()
	if s.AddAuthorities {
		if h.config.RootCAs != nil {
			pool = h.config.RootCAs.Clone()
		} else if system, err := x509.SystemCertPool(); err == nil {
			pool = system
		}
	}
	pool.AppendCertsFromPEM([]byte(s.Authorities))
	return pool
}

// tlsID identifies certificates; it is empty if there are none.
func tlsID(s *feedmill.ClientTLS) string {
	if s == nil {
		return ""
	}
	return s.ID
}

// sessions are the TLS sessions of one owner: a workspace and its certificates.
type sessions struct {
	all   tls.ClientSessionCache
	owner string
}

func (s sessions) Get(name string) (*tls.ClientSessionState, bool) {
	return s.all.Get(s.owner + " " + name)
}

func (s sessions) Put(name string, session *tls.ClientSessionState) {
	s.all.Put(s.owner+" "+name, session)
}

// needsHTTP2 reports whether a handshake failed because the endpoint does not support
// HTTP/1.1.
func needsHTTP2(err error) bool {
	const noApplicationProtocol = 120 // RFC 7301
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return false
	}
	// The type of an alert is not exported by crypto/tls.
	alert := reflect.ValueOf(remote.Err)
	return alert.Kind() == reflect.Uint8 && alert.Uint() == noApplicationProtocol
}

// hostSet is a set of hosts that is cleared when it gets large. A missing host only costs
// one connection.
type hostSet struct {
	mu    sync.RWMutex
	hosts map[string]struct{}
}

const maxHostSet = 1024

func (s *hostSet) has(host string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.hosts[host]
	return ok
}

func (s *hostSet) note(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil || len(s.hosts) >= maxHostSet {
		s.hosts = make(map[string]struct{})
	}
	s.hosts[host] = struct{}{}
}

// tlsConn is a TLS connection that can report whether it has unread data.
type tlsConn struct {
	*tls.Conn
	records *recordReader
	probe   [1]byte
}

// isDrained reports whether all data from the socket so far was read.
func (c *tlsConn) isDrained() bool {
	c.records.paused = true
	n, err := c.Conn.Read(c.probe[:])
	c.records.paused = false
	return n == 0 && errors.Is(err, errPaused) && c.records.left == 0 && c.records.header == 0
}

// recordReader is the socket below TLS. It tracks the boundaries of records. While it is
// paused, it returns no data, so that TLS only returns what it has already read.
type recordReader struct {
	net.Conn
	paused bool
	// header is the number of bytes of a record's header that were read, length the value
	// of its length field so far, and left the number of missing bytes of the record.
	header, length, left int
}

// recordHeader is the length of a record's header, which ends with a length in two bytes.
const recordHeader = 5

func (r *recordReader) Read(p []byte) (int, error) {
	if r.paused {
		return 0, errPaused
	}
	n, err := r.Conn.Read(p)
	r.follow(p[:n])
	return n, err
}

func (r *recordReader) follow(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			skip := min(r.left, len(b))
			r.left -= skip
			b = b[skip:]
			continue
		}
		r.length = r.length<<8 | int(b[0])
		b = b[1:]
		if r.header++; r.header == recordHeader {
			r.left = r.length & 0xffff
			r.header, r.length = 0, 0
		}
	}
}

// errPaused is the error of a paused recordReader. It is temporary, so TLS can read again.
var errPaused net.Error = pausedError{}

type pausedError struct{}

func (pausedError) Error() string   { return "reading from the socket is paused" }
func (pausedError) Timeout() bool   { return true }
func (pausedError) Temporary() bool { return true }

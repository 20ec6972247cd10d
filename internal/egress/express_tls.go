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

// handshakeTimeout is that of [Client.Transport].
const handshakeTimeout = 10 * time.Second

// handshaker makes TLS connections.
type handshaker struct {
	config   *tls.Config
	sessions tls.ClientSessionCache
	// onlyHTTP2 are hosts that would not speak HTTP/1.1.
	onlyHTTP2 hostSet
}

func newHandshaker(roots *x509.CertPool) *handshaker {
	return &handshaker{
		sessions: tls.NewLRUClientSessionCache(4096),
		config: &tls.Config{
			MinVersion: tls.VersionTLS12,
			RootCAs:    roots,
			// A request goes out as a whole in any case; small records would
			// cost a write each.
			DynamicRecordSizingDisabled: true,
		},
	}
}

// shakeHands makes a connection secure and offers one protocol to speak on it. It
// closes the socket where that fails.
func (h *handshaker) shakeHands(ctx context.Context, socket net.Conn, workspace feedmill.ID, name, protocol string) (*tlsConn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	config := h.config.Clone()
	config.ClientSessionCache = h.sessionsOf(workspace)
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

// sessionsOf are the sessions that may be resumed, of one workspace.
func (h *handshaker) sessionsOf(workspace feedmill.ID) tls.ClientSessionCache {
	return sessions{h.sessions, string(workspace)}
}

type sessions struct {
	all       tls.ClientSessionCache
	workspace string
}

func (s sessions) Get(name string) (*tls.ClientSessionState, bool) {
	return s.all.Get(s.workspace + " " + name)
}

func (s sessions) Put(name string, session *tls.ClientSessionState) {
	s.all.Put(s.workspace+" "+name, session)
}

// needsHTTP2 reports whether a handshake failed because the endpoint speaks no
// HTTP/1.1.
func needsHTTP2(err error) bool {
	const noApplicationProtocol = 120 // RFC 7301
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != "remote error" {
		return false
	}
	// An alert is a number of a type that crypto/tls does not export.
	alert := reflect.ValueOf(remote.Err)
	return alert.Kind() == reflect.Uint8 && alert.Uint() == noApplicationProtocol
}

// hostSet is a set of hosts that is forgotten when it gets large: to find out
// again costs a connection.
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

// tlsConn is a TLS connection of which can be said whether it holds anything
// that nobody has read.
type tlsConn struct {
	*tls.Conn
	records *recordReader
	probe   [1]byte
}

// isDrained reports whether everything that came from the socket so far was read.
func (c *tlsConn) isDrained() bool {
	c.records.dry = true
	n, err := c.Conn.Read(c.probe[:])
	c.records.dry = false
	return n == 0 && errors.Is(err, errDry) && c.records.left == 0 && c.records.header == 0
}

// recordReader is the socket below TLS. It follows where records begin and end,
// and can be made to give nothing, so that TLS gives what it has and no more.
type recordReader struct {
	net.Conn
	dry bool
	// header is how much of a record's header has come, length what it says so
	// far, and left what is missing of the record behind it.
	header, length, left int
}

// The header of a record ends with the length of what follows, in two bytes.
const recordHeader = 5

func (r *recordReader) Read(p []byte) (int, error) {
	if r.dry {
		return 0, errDry
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

// errDry is temporary, as TLS sees it: it may be followed by more.
var errDry net.Error = dryError{}

type dryError struct{}

func (dryError) Error() string   { return "nothing may be read from the socket now" }
func (dryError) Timeout() bool   { return true }
func (dryError) Temporary() bool { return true }

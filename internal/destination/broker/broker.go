// Package broker has what all message brokers have in common as destinations: the form of
// their URLs, their credentials, connections that are shared by the attempts of a
// subscription, and the classes of their failures. A [Protocol] is what one of them needs
// besides; each has a package of its own.
package broker

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// Protocol is the protocol of a broker.
type Protocol interface {
	// Name is the name of the kind.
	Name() feedmill.DestinationKind
	// Form describes the URLs.
	Form() Form
	// CheckAddress describes what is wrong with the path and the query of a URL; it is empty
	// if they are valid.
	CheckAddress(Address) string
	// CheckCredentials describes what is wrong with the credentials together; it is empty if
	// they are valid.
	CheckCredentials(map[string]string) string
	// Connect opens a connection. It may use no other way out than the dialer in the
	// settings. If ctx ends, the sockets that it has opened are closed.
	Connect(context.Context, Settings) (Conn, error)
}

// Form describes the URLs and the credentials of a protocol.
type Form struct {
	// Plain and Secure are the schemes without and with TLS, and PlainPort and SecurePort
	// their default ports.
	Plain, Secure, PlainPort, SecurePort string
	// Example is a valid URL.
	Example string
	// MaxHosts is the maximum number of hosts in a URL.
	MaxHosts int
	// Credentials are the names of all credentials.
	Credentials []string
}

// Settings are what a connection is opened with.
type Settings struct {
	Address     Address
	Credentials map[string]string
	// Dial opens a socket if the egress policy allows the address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is nil if the URL has the scheme without TLS. It has no server name.
	TLS *tls.Config
	// note is told of the sockets that Open opens, and of those that it could not open.
	note func(address string, err error)
}

// Open opens a socket, with TLS if the URL has the scheme for it.
func (s Settings) Open(ctx context.Context, network, address string) (net.Conn, error) {
	socket, err := s.Dial(ctx, network, address)
	if err != nil || s.TLS == nil {
		return socket, err
	}
	secure := tls.Client(socket, s.TLSFor(address))
	if err := secure.HandshakeContext(ctx); err != nil {
		socket.Close()
		s.note(address, err)
		return nil, err
	}
	return secure, nil
}

// TLSFor is the configuration for a server at an address.
func (s Settings) TLSFor(address string) *tls.Config {
	config := s.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	return config
}

// Conn is a connection to a broker. Its methods may be called concurrently.
type Conn interface {
	// Publish sends a message and waits until the broker has acknowledged it. It returns nil
	// only then. A [Failure] describes what the broker responded.
	Publish(context.Context, feedmill.Message) error
	// Done is closed when the connection is lost.
	Done() <-chan struct{}
	// Close closes the connection. Messages that are not acknowledged fail.
	Close()
}

// HostPolicy decides which hosts may be called.
type HostPolicy interface {
	// CheckHost checks what is known without resolving the name.
	CheckHost(name string) error
}

// Options are the parts that a kind uses.
type Options struct {
	// Dial is the way out; it enforces the address policy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Forbidden matches the errors of Dial for addresses that the policy forbids.
	Forbidden error
	// Hosts decides where subscriptions may point to.
	Hosts HostPolicy
	// RootCAs verifies brokers. Nil means the system's roots.
	RootCAs *x509.CertPool
}

// Kind is the kind of destination that the brokers of a protocol are.
type Kind struct {
	Options
	Protocol
	pool *pool
}

// New returns the kind of a protocol.
func New(p Protocol, o Options) *Kind {
	return &Kind{Options: o, Protocol: p, pool: newPool(idleTime, maxConnections)}
}

// Schemes are those of URLs that select the kind.
func (k *Kind) Schemes() []string {
	f := k.Form()
	return []string{f.Plain, f.Secure}
}

// Close closes all connections. Nothing may be sent afterwards.
func (k *Kind) Close() { k.pool.close() }

// endpoint is the destination of one subscription.
type endpoint struct {
	*Kind
	// key identifies the connection: the subscription, its URL and its credentials.
	key      string
	settings Settings
	// valid reports whether the URL can be used.
	valid bool
}

// Open prepares sending to a subscription. The configuration holds its credentials.
func (k *Kind) Open(sub feedmill.Subscription, config []byte) (feedmill.Endpoint, error) {
	e := &endpoint{Kind: k}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &e.settings.Credentials); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(append([]byte(sub.Destination.URL+"\x00"), config...))
	e.key = string(sub.ID) + hex.EncodeToString(sum[:])
	address, err := parseAddress(sub.Destination.URL, k.Form())
	e.settings.Address, e.valid = address, err == nil
	if address.Scheme == k.Form().Secure {
		e.settings.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: k.RootCAs}
	}
	return e, nil
}

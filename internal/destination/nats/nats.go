// Package nats publishes deliveries to subjects of NATS servers. A JetStream stream has to
// store the subject: its acknowledgement is what makes a delivery delivered. A server
// without one would accept a message that nobody gets.
package nats

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/destination/broker"
)

// Protocol is the protocol of NATS.
type Protocol struct{}

// Name is the name of the kind.
func (Protocol) Name() feedmill.DestinationKind { return feedmill.DestinationNATS }

// Form describes the URLs.
func (Protocol) Form() broker.Form {
	return broker.Form{
		Plain: "nats", Secure: "nats+tls", PlainPort: "4222", SecurePort: "4222", Example: "nats://nats.example.com:4222/orders.created",
		MaxHosts: 1, Credentials: []string{"username", "password", "token", "creds"},
	}
}

// CheckAddress checks the subject.
func (Protocol) CheckAddress(a broker.Address) string {
	switch {
	case len(a.Query) > 0:
		return "url must not have a query. The path is the subject, such as nats://nats.example.com:4222/orders.created."
	case a.Path == "":
		return "url must have a subject as its path, such as nats://nats.example.com:4222/orders.created."
	case strings.ContainsFunc(a.Path, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "The subject must not contain spaces or control characters."
	case strings.HasPrefix(a.Path, "$"), strings.HasPrefix(a.Path, "_INBOX."):
		return "The subject must not begin with $ or _INBOX, which NATS reserves."
	}
	for token := range strings.SplitSeq(a.Path, ".") {
		if token == "" || token == "*" || token == ">" {
			return "The subject must consist of names separated by periods, without the wildcards * and >."
		}
	}
	return ""
}

// CheckCredentials checks that the credentials are those of one method.
func (Protocol) CheckCredentials(c map[string]string) string {
	methods := 0
	for _, name := range []string{"username", "token", "creds"} {
		if c[name] != "" {
			methods++
		}
	}
	switch {
	case (c["username"] == "") != (c["password"] == ""):
		return "username and password must be set together."
	case methods > 1:
		return "credentials must have username and password, or token, or creds."
	}
	if c["creds"] != "" {
		if jwt, err := nkeys.ParseDecoratedJWT([]byte(c["creds"])); err != nil || strings.Count(jwt, ".") != 2 {
			return credsForm
		}
		if _, err := nkeys.ParseDecoratedUserNKey([]byte(c["creds"])); err != nil {
			return credsForm
		}
	}
	return ""
}

const credsForm = "creds must be the text of a NATS credentials file, with a user JWT and a seed."

const (
	// writeTime bounds a write to the socket.
	writeTime = 10 * time.Second
	// pingEvery is how often a connection is tested; after two pings without a response it
	// is lost.
	pingEvery = 20 * time.Second
)

// dialer makes sockets for the client.
type dialer struct {
	ctx  context.Context
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.dial(d.ctx, network, address)
}

// Connect opens a connection. It does not reconnect, and does not follow the addresses that
// the server announces: the next attempt opens a new one.
func (Protocol) Connect(ctx context.Context, s broker.Settings) (broker.Conn, error) {
	c := &conn{subject: s.Address.Path, done: make(chan struct{})}
	o := nats.GetDefaultOptions()
	o.Servers, o.Name = []string{"nats://" + s.Address.Hosts[0]}, "feedmill"
	o.AllowReconnect, o.SkipHostLookup, o.NoEcho = false, true, true
	o.CustomDialer = dialer{ctx, s.Dial}
	o.FlusherTimeout, o.PingInterval, o.MaxPingsOut = writeTime, pingEvery, 2
	if deadline, ok := ctx.Deadline(); ok {
		o.Timeout = time.Until(deadline)
	}
	if s.TLS != nil {
		o.Secure, o.TLSConfig = true, s.TLSFor(s.Address.Hosts[0])
	}
	o.User, o.Password, o.Token = s.Credentials["username"], s.Credentials["password"], s.Credentials["token"]
	if creds := s.Credentials["creds"]; creds != "" {
		if err := nats.UserCredentialBytes([]byte(creds))(&o); err != nil {
			return nil, err
		}
	}
	o.ClosedCB = func(*nats.Conn) { close(c.done) }
	o.AsyncErrorCB = func(nc *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) { // there is no other response
			c.denied.Store(true)
			nc.Close()
		}
	}
	nc, err := o.Connect()
	if err != nil {
		return nil, refusal(err)
	}
	c.nats = nc
	return c, nil
}

// refusal is the error of a connection that was not opened.
func refusal(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return &broker.Failure{Class: broker.ClassAuth, Detail: "the server refused the credentials"}
	case errors.Is(err, nats.ErrSecureConnWanted):
		return &broker.Failure{Class: broker.ClassTLS, Detail: "the server does not use TLS on this port"}
	}
	return err
}

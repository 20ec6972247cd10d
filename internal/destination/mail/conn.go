package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// conn is a connection to the server, for one message at a time.
type conn struct {
	socket net.Conn
	client *smtp.Client
	expiry *time.Timer
}

// stage is how far the exchange of a message has come.
type stage uint8

const (
	connecting stage = iota
	sender
	recipient
	content // the server may have the message
)

// failure is an error with the stage at which it happened.
type failure struct {
	stage stage
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func at(s stage, err error) error {
	if err == nil {
		return nil
	}
	return &failure{s, err}
}

// errNoTLS reports that the server does not offer TLS, which the settings require.
var errNoTLS = errors.New("the server does not offer TLS")

// errLogin reports that the server did not accept the credentials.
var errLogin = errors.New("signing in failed")

// errNoLogin reports that the server offers no way to sign in that is known.
var errNoLogin = errors.New("the server does not offer the authentication PLAIN or LOGIN")

// connect opens a connection and signs in.
func (s *Server) connect(ctx context.Context) (*conn, error) {
	socket, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return nil, at(connecting, err)
	}
	stop := interrupt(ctx, socket)
	defer stop()
	c, err := s.greet(ctx, socket)
	if err != nil {
		socket.Close()
		return nil, at(connecting, err)
	}
	return c, nil
}

// greet does what comes before the first message.
func (s *Server) greet(ctx context.Context, socket net.Conn) (*conn, error) {
	if s.tls == tlsImplicit {
		secure := tls.Client(socket, s.tlsConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		socket = secure
	}
	client, err := smtp.NewClient(socket, s.host)
	if err != nil {
		return nil, err
	}
	if err := client.Hello(s.From.domain); err != nil {
		return nil, err
	}
	offered, _ := client.Extension("STARTTLS")
	switch {
	case s.tls == tlsRequired && !offered:
		return nil, errNoTLS
	case s.tls == tlsRequired, s.tls == tlsOffered && offered:
		if err := client.StartTLS(s.tlsConfig()); err != nil {
			return nil, err
		}
	}
	if s.user != nil {
		if err := s.login(client); err != nil {
			return nil, fmt.Errorf("%w: %w", errLogin, err)
		}
	}
	return &conn{socket: socket, client: client}, nil
}

// login signs in. The password is not sent without TLS, except to this machine.
func (s *Server) login(client *smtp.Client) error {
	if _, secure := client.TLSConnectionState(); !secure && !s.isLocal() {
		return errNoTLS
	}
	password, _ := s.user.Password()
	_, methods := client.Extension("AUTH")
	switch all := strings.Fields(strings.ToUpper(methods)); {
	case slices.Contains(all, "PLAIN"):
		return client.Auth(credentials{"PLAIN", s.user.Username(), password})
	case slices.Contains(all, "LOGIN"):
		return client.Auth(credentials{"LOGIN", s.user.Username(), password})
	}
	return errNoLogin
}

// credentials sign in with PLAIN or LOGIN.
type credentials struct{ method, user, password string }

// Start begins with the method.
func (c credentials) Start(*smtp.ServerInfo) (string, []byte, error) {
	if c.method == "PLAIN" {
		return "PLAIN", []byte("\x00" + c.user + "\x00" + c.password), nil
	}
	return "LOGIN", nil, nil
}

// Next responds to the server, which asks for the name and then for the password.
func (c credentials) Next(asked []byte, more bool) ([]byte, error) {
	switch {
	case !more:
		return nil, nil
	case c.method == "LOGIN" && strings.Contains(strings.ToLower(string(asked)), "password"):
		return []byte(c.password), nil
	case c.method == "LOGIN":
		return []byte(c.user), nil
	}
	return nil, errNoLogin
}

// send sends one message.
func (c *conn) send(ctx context.Context, from, to address, message []byte) error {
	defer interrupt(ctx, c.socket)()
	if err := c.client.Mail(from.String()); err != nil {
		return at(sender, err)
	}
	if err := c.client.Rcpt(to.String()); err != nil {
		return at(recipient, err)
	}
	w, err := c.client.Data()
	if err != nil {
		return at(recipient, err)
	}
	if _, err := w.Write(message); err != nil {
		return at(content, err)
	}
	return at(content, w.Close())
}

// interrupt ends what a socket waits for when ctx ends. The function that it returns must be
// called before the socket is used again.
func interrupt(ctx context.Context, socket net.Conn) (stop func()) {
	deadline, _ := ctx.Deadline()
	socket.SetDeadline(deadline)
	done := make(chan struct{})
	ended := context.AfterFunc(ctx, func() { socket.SetDeadline(time.Unix(1, 0)); close(done) })
	return func() {
		if !ended() {
			<-done
		}
	}
}

// reset prepares for another message after one that the server refused. It reports false if
// the connection cannot be used.
func (c *conn) reset(err error) bool {
	reply, responded := errors.AsType[*textproto.Error](err)
	if !responded || reply.Code == closing {
		return false
	}
	c.socket.SetDeadline(time.Now().Add(quitTime))
	return c.client.Reset() == nil
}

const (
	// closing is the reply of a server that closes the connection.
	closing = 421
	// quitTime bounds the end of a connection.
	quitTime = 2 * time.Second
)

// quit ends the connection in order.
func (c *conn) quit() {
	c.socket.SetDeadline(time.Now().Add(quitTime))
	c.client.Quit()
	c.socket.Close()
}

func (c *conn) close() { c.socket.Close() }

// isStale reports whether a connection that was idle had been closed by the server, before it
// took anything of the message.
func isStale(err error) bool {
	f, ok := errors.AsType[*failure](err)
	if !ok || f.stage >= content {
		return false
	}
	reply, responded := errors.AsType[*textproto.Error](err)
	return !responded || reply.Code == closing
}

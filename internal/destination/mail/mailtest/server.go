// Package mailtest has a real SMTP server for tests.
package mailtest

import (
	"bytes"
	"errors"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Server is a real SMTP server that keeps its messages.
type Server struct {
	// Address is host:port.
	Address string
	server  *smtp.Server

	mu       sync.Mutex
	messages []*mail.Message
	bodies   []string
	refuse   func(command, argument string) error
	open     int
}

func Start(t *testing.T, change ...func(*smtp.Server)) *Server {
	t.Helper()
	m := &Server{refuse: func(string, string) error { return nil }}
	m.server = smtp.NewServer(m)
	m.server.Domain, m.server.AllowInsecureAuth, m.server.MaxMessageBytes = "mail.example.com", true, 1<<20
	m.server.ErrorLog = quiet{}
	for _, change := range change {
		change(m.server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Address = l.Addr().String()
	var done sync.WaitGroup
	done.Go(func() { m.server.Serve(l) })
	t.Cleanup(func() { m.server.Close(); done.Wait() })
	return m
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

type session struct {
	*Server
}

// NewSession counts a connection.
func (m *Server) NewSession(*smtp.Conn) (smtp.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open++
	return &session{Server: m}, nil
}

func (s *session) check(command, argument string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse(command, argument)
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ada" || password != "pa55" {
			return errors.New("wrong")
		}
		return nil
	}), nil
}

func (s *session) Reset() {}

func (s *session) Logout() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	return nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { return s.check("MAIL", from) }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { return s.check("RCPT", to) }

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.check("DATA", string(raw)); err != nil {
		return err
	}
	msg, body, err := Read(raw)
	if err != nil {
		return &smtp.SMTPError{Code: 554, Message: err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.bodies = append(s.messages, msg), append(s.bodies, body)
	return nil
}

// Read parses a message as a mail program does.
func Read(raw []byte) (*mail.Message, string, error) {
	msg, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(quotedprintable.NewReader(msg.Body))
	return msg, strings.ReplaceAll(string(body), "\r\n", "\n"), err
}

// All returns the messages and their decoded text, in the order of their arrival.
func (m *Server) All() ([]*mail.Message, []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*mail.Message(nil), m.messages...), append([]string(nil), m.bodies...)
}

// Refuse sets what commands return, MAIL, RCPT and DATA; nil accepts all of them.
func (m *Server) Refuse(refuse func(command, argument string) error) {
	if refuse == nil {
		refuse = func(string, string) error { return nil }
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = refuse
}

// Open is how many connections are open.
func (m *Server) Open() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// Wait returns the messages when there are so many.
func (m *Server) Wait(t *testing.T, n int) ([]*mail.Message, []string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		messages, bodies := m.All()
		if len(messages) >= n {
			return messages, bodies
		}
		if time.Now().After(end) {
			t.Fatalf("%d messages arrived, want %d", len(messages), n)
		}
	}
}

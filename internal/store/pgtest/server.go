package pgtest

import (
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
)

// Options say what kind of server a test needs. The zero value is the fast one.
type Options struct {
	// Durable keeps PostgreSQL's own promises: what was committed is on
	// disk, and outlives a stop in the mode [Immediate].
	Durable bool
	// Settings are lines of postgresql.conf; they win over the package's own.
	Settings map[string]string
}

// Mode is how a server is stopped.
type Mode string

// The modes. Fast ends all sessions and shuts down in order. Immediate drops
// everything, so that the next start recovers as it does after a crash.
const (
	Fast      Mode = "fast"
	Immediate Mode = "immediate"
)

// Server is a private PostgreSQL server. Stop and Start must not be called
// at the same time as any other method.
type Server struct {
	port      int
	databases atomic.Int64
	watchdog  *watchdog
}

// URL returns the URL of the database that every server has, "postgres". It
// stays the same when the server is stopped and started again.
func (s *Server) URL() string { return s.url("postgres") }

// NewDatabase returns the URL of a new and empty database on the server.
func (s *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	return s.url(s.create(t, emptyDatabase))
}

// Stop stops the server and waits until it is gone.
func (s *Server) Stop(t testing.TB, m Mode) {
	t.Helper()
	if err := s.watchdog.ask("stop", string(m)); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Start starts a server that was stopped, at the same port and with the same
// data, and waits until it takes connections.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.watchdog.ask("start", strconv.Itoa(s.port)); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
}

// emptyDatabase is what empty databases are made from: nobody ever connects to
// it, so that they can be at any time, several at once.
const emptyDatabase = "template0"

func (s *Server) create(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.databases.Add(1))
	if err := s.exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	return name
}

func (s *Server) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Host:     "127.0.0.1:" + strconv.Itoa(s.port),
		Path:     database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func (s *Server) close() error { return s.watchdog.close() }

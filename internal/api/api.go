// Package api is the service over HTTP: JSON in, JSON out, one file a resource.
//
// A request takes one way through it. The table in routes.go names the
// operation; [Server.serve] gives it a request id, a deadline and a log line,
// checks the credential, the scope, the rate limit and the query parameters,
// and answers repeated requests from what was kept; the operation's handler
// reads the body into a domain value, calls one method of the store and
// returns an answer or an error; problem.go turns every error into a problem
// document. What the operations look like from outside stands in openapi/,
// and a test holds the two against each other.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/feedmill/feedmill"
)

// Store is what the API needs of the store.
type Store interface {
	Ping(context.Context) error

	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.Once) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)

	CreateKey(context.Context, feedmill.Key, *feedmill.Once) error
	Keys(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error

	Keep(context.Context, feedmill.Once) error
	Answered(ctx context.Context, workspace feedmill.ID, key string, now time.Time) (feedmill.Once, error)
}

// Authenticator knows who makes a request.
type Authenticator interface {
	// Authenticate verifies the value of an Authorization header.
	Authenticate(ctx context.Context, authorization string) (feedmill.Principal, error)
	// Forget makes a revoked key invalid at once.
	Forget(key feedmill.ID)
}

// Vault seals what must not stand in the store as plain text.
type Vault interface {
	Seal(plain []byte, record string) ([]byte, error)
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Options are the parts that a server is made of.
type Options struct {
	Store   Store
	Auth    Authenticator
	Vault   Vault
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Tracer  trace.Tracer

	// RateLimit is how many requests a second one credential may make;
	// zero means any number. RateBurst is how many it may make at once.
	RateLimit float64
	RateBurst int
}

// Server answers the API's requests. It is an [http.Handler].
type Server struct {
	Options
	mux      *http.ServeMux
	methods  []string
	limits   *limiter
	inFlight inFlight
	seen     *seen
}

// New makes a server.
func New(o Options) *Server {
	s := &Server{Options: o, mux: http.NewServeMux(), limits: newLimiter(o.RateLimit, o.RateBurst), seen: newSeen(o.Metrics)}
	for _, r := range s.routes() {
		s.handle(r)
	}
	s.open(o.Metrics)
	return s
}

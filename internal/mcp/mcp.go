// Package mcp lets AI assistants use Feedmill over the Model Context Protocol: over HTTP at
// /mcp, and over standard input and output.
//
// It is a customer of the HTTP API. Each tool sends requests to the API with the caller's
// credential, so scopes, workspaces, limits, the log and the audit log apply as for any other
// client. tools.json describes the tools to assistants.
package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

const (
	// maxMessage is the maximum size of a message from a client.
	maxMessage = 1 << 20
	// messageTimeout is how long a client can take to send a message.
	messageTimeout = 30 * time.Second
	// workTimeout is how long a tool can take, and responseTimeout how long the tool and
	// sending its result can take together.
	workTimeout     = 75 * time.Second
	responseTimeout = 90 * time.Second
	// maxResponse is the maximum size of a response of the API that is kept in memory. Tools
	// read less.
	maxResponse = 4 << 20
)

// Path is where the server is.
const Path = "/mcp"

// Options are the parts of a server.
type Options struct {
	// API handles the requests of the tools.
	API     http.Handler
	Version string
	Log     *slog.Logger
}

// Server serves the protocol over HTTP. It keeps no state between requests.
type Server struct {
	Options
	protocol http.Handler
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{Options: o}
	s.protocol = sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server { return r.Context().Value(serverKey{}).(*sdk.Server) },
		// Every request has a key that browsers do not add by themselves, so the host of a
		// request needs no check, which would refuse a reverse proxy on this machine.
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
	return s
}

// serverKey is the key of the context value that has the server of one request.
type serverKey struct{}

// Beside serves Path, and leaves all other paths to next.
func (s *Server) Beside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == Path {
			s.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP handles one message. It checks the credential before it reads the message.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := http.NewResponseController(w)
	conn.SetWriteDeadline(time.Now().Add(responseTimeout)) // a recorder in a test has none
	a := &api{base: inProcess, authorization: r.Header.Get("Authorization"), http: &http.Client{Transport: transport{s, r}, CheckRedirect: noRedirects}}
	scopes, refusal, err := a.scopes(r.Context())
	switch {
	case err != nil:
		s.refuse(w, http.StatusServiceUnavailable, "unavailable", "The credential could not be checked. Try again.")
		return
	case refusal != nil:
		relay(w, refusal)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, http.StatusMethodNotAllowed, "method-not-allowed", "Send messages with POST. The server has no sessions and no stream of its own messages.")
		return
	}
	conn.SetReadDeadline(time.Now().Add(messageTimeout))
	message, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		s.refuse(w, http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("A message can have at most %d bytes.", maxMessage))
		return
	}
	if err != nil {
		s.refuse(w, http.StatusBadRequest, "incomplete-body", "The body was not received completely. Send the message again.")
		return
	}
	conn.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithTimeout(r.Context(), workTimeout)
	defer cancel()
	a.until = ctx
	r = r.WithContext(context.WithValue(ctx, serverKey{}, a.server(s.Version, slices.Contains(scopes, feedmill.ScopeWrite))))
	r.Body = io.NopCloser(bytes.NewReader(message))
	s.protocol.ServeHTTP(w, r)
}

// relay sends a refusal of the API as that of the server.
func relay(w http.ResponseWriter, refusal *http.Response) {
	for _, name := range []string{"Content-Type", "WWW-Authenticate", "Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-Id"} {
		if value := refusal.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	body, _ := io.ReadAll(refusal.Body) // it is in memory
	if v, ok := strictjson.Read(body, strictjson.Part{}, func(string, string) bool { return true }); ok && v.Kind == '{' {
		v.Set("instance", strictjson.String(Path))
		body = v.Append(nil)
	}
	w.WriteHeader(refusal.StatusCode)
	w.Write(body)
}

// refuse sends a problem document.
func (s *Server) refuse(w http.ResponseWriter, status int, slug, detail string) {
	v := strictjson.Value{Kind: '{'}
	v.Set("type", strictjson.String("/problems/"+slug))
	v.Set("title", strictjson.String(problemType(slug).Title))
	v.Set("status", strictjson.Value{Kind: '0', Raw: fmt.Append(nil, status)})
	v.Set("detail", strictjson.String(detail))
	v.Set("instance", strictjson.String(Path))
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	w.Write(v.Append(nil))
}

// inProcess is the address of the API in the same process. It is never dialed.
const inProcess = "http://feedmill.invalid"

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// transport sends the requests of the tools to the API in the same process, as if the sender
// of the message had sent them.
type transport struct {
	*Server
	outer *http.Request
}

// RoundTrip returns the response of the API. A response that breaks off is an error.
func (t transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				t.Log.Error("a request of a tool failed", "path", r.URL.Path, "error", fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			}
			resp, err = nil, errors.New("the response broke off")
		}
	}()
	r = r.Clone(r.Context())
	r.Host, r.RequestURI, r.RemoteAddr, r.TLS = t.outer.Host, r.URL.RequestURI(), t.outer.RemoteAddr, t.outer.TLS
	if proto := t.outer.Header.Get("X-Forwarded-Proto"); proto != "" {
		r.Header.Set("X-Forwarded-Proto", proto)
	}
	return client.InProcess{Handler: t.API, MaxBytes: maxResponse}.RoundTrip(r)
}

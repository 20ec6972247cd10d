package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api/openapi"
)

// HealthStore reports whether the store responds, and where it is.
type HealthStore interface {
	Ping(context.Context) error
	Place(context.Context) (feedmill.StorePlace, error)
}

// open registers what needs no credential. These paths are in the document too.
func (s *Server) open() {
	for _, r := range s.openRoutes() {
		s.handle(r)
	}
	for pattern, page := range s.pages() {
		_, path, _ := strings.Cut(pattern, " ")
		s.paths.add(path)
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			limitTime(w, r, time.Now())
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(strangerTimeout)) // a recorder in a test has none
			w.Header().Set("X-Request-Id", requestID(r))
			page.ServeHTTP(w, r)
		})
	}
}

func (s *Server) openRoutes() []route {
	// The documents are made when somebody wants them: that takes longer than all
	// else at the start.
	document := func(contentType string, text func() []byte) func(*call) (answer, error) {
		return func(*call) (answer, error) {
			return answer{status: http.StatusOK, contentType: contentType, body: text()}, nil
		}
	}
	schema := func(text func() []byte) func(*call) (answer, error) {
		return document("application/schema+json", sync.OnceValue(text))
	}
	return []route{
		{method: "GET", path: "/schemas/rest-feed.json", handle: schema(func() []byte { return openapi.Schema("RestFeed", "A REST feed of Feedmill") })},
		{method: "GET", path: "/schemas/service.json", handle: schema(func() []byte { return openapi.Schema("ServiceManifest", "A service manifest of Feedmill") })},
		{method: "GET", path: "/schemas/definition.json", handle: schema(openapi.DefinitionSchema)},
		{method: "GET", path: linkPath, query: linkParameters, long: true, handle: s.readLink},
		{method: "GET", path: "/problems/{slug}", handle: s.getProblemType},
		{method: "GET", path: "/healthz", handle: s.health},
		{method: "GET", path: "/readyz", handle: s.ready},
		{method: "GET", path: "/openapi.json", handle: document("application/json", openapi.JSON)},
	}
}

// pages are what other programs' handlers answer; they leave no log line.
func (s *Server) pages() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /metrics":        promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{}),
		"GET /docs":           s.Docs,
		"GET /docs/{page...}": s.Docs,
	}
}

type healthView struct {
	Status string `json:"status"`
	// Files is the state of the bucket, empty where there is none.
	Files string `json:"files,omitempty"`
}

// health says that the process is alive, whatever its stores do.
func (s *Server) health(*call) (answer, error) {
	return jsonAnswer(http.StatusOK, healthView{Status: "ok"}), nil
}

// ready says whether the process can do its work.
func (s *Server) ready(c *call) (answer, error) {
	if s.stopping.Load() {
		return answer{}, fmt.Errorf("%w: the server is stopping", feedmill.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(c.ctx(), 5*time.Second)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		return answer{}, fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	v := healthView{Status: "ready"}
	if s.Bucket != nil {
		v.Files = "ready"
		if s.Bucket.Outage() != nil {
			v.Files = "unavailable"
		}
	}
	return jsonAnswer(http.StatusOK, v), nil
}

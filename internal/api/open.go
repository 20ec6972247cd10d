package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api/docs"
	"github.com/feedmill/feedmill/internal/api/openapi"
)

// open registers what needs no credential. These paths are in the document too.
func (s *Server) open(reg *prometheus.Registry) {
	s.handle(route{method: "GET", path: "/healthz", handle: s.health})
	s.handle(route{method: "GET", path: "/readyz", handle: s.ready})
	document := answer{status: http.StatusOK, contentType: "application/json", body: openapi.JSON()}
	s.handle(route{method: "GET", path: "/openapi.json", handle: func(*call) (answer, error) { return document, nil }})
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	s.mux.Handle("GET /docs", docs.Page())
	s.mux.Handle("GET /docs/rapidoc.js", docs.Script())
}

type healthView struct {
	Status string `json:"status"`
}

// health says that the process is alive, whatever its stores do.
func (s *Server) health(*call) (answer, error) {
	return jsonAnswer(http.StatusOK, healthView{"ok"}), nil
}

// ready says whether the process can do its work.
func (s *Server) ready(c *call) (answer, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), 5*time.Second)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		return answer{}, fmt.Errorf("%w: %w", feedmill.ErrUnavailable, err)
	}
	return jsonAnswer(http.StatusOK, healthView{"ready"}), nil
}

package app

import (
	"net/http"

	"github.com/jub0bs/cors"
)

// withCORS lets the pages of the configured origins call the API.
func (a *App) withCORS(h http.Handler) (http.Handler, error) {
	m, err := newCORS(a.config.CORSOrigins)
	if err != nil {
		return nil, a.config.Wrong("corsOrigins", err)
	}
	return m.Wrap(h), nil
}

// newCORS makes the middleware that answers the browsers of the origins; of no
// origins it does nothing.
func newCORS(origins []string) (*cors.Middleware, error) {
	if len(origins) == 0 {
		return new(cors.Middleware), nil
	}
	return cors.NewMiddleware(cors.Config{
		Origins: origins,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		RequestHeaders: []string{
			"Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id", "If-None-Match", "Prefer",
			// The attributes of a CloudEvent in its binary mode.
			"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time", "ce-datacontenttype", "ce-dataschema",
		},
		ResponseHeaders: []string{"Link", "Location", "ETag", "X-Request-Id", "Retry-After", "RateLimit", "RateLimit-Policy", "WWW-Authenticate"},
		MaxAgeInSeconds: 600,
	})
}

package serve

import (
	"net/http"

	"github.com/jub0bs/cors"
)

// NewCORS returns the CORS middleware for origins. Without origins it does nothing.
func NewCORS(origins []string) (*cors.Middleware, error) {
	if len(origins) == 0 {
		return new(cors.Middleware), nil
	}
	return cors.NewMiddleware(cors.Config{
		Origins: origins,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		RequestHeaders: []string{
			"Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id", "If-None-Match", "Prefer",
			"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name",
			// The attributes of a CloudEvent in its binary mode.
			"ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time", "ce-datacontenttype", "ce-dataschema",
		},
		ResponseHeaders: []string{"Link", "Location", "ETag", "X-Request-Id", "Retry-After", "X-Total-Count", "X-Counts", "RateLimit", "RateLimit-Policy", "WWW-Authenticate"},
		MaxAgeInSeconds: 600,
	})
}

// WithCORS wraps a handler so that pages of the origins can call it.
func WithCORS(h http.Handler, origins []string) (http.Handler, error) {
	m, err := NewCORS(origins)
	if err != nil {
		return nil, err
	}
	return m.Wrap(h), nil
}

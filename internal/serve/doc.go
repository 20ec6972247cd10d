// Package serve is the HTTP server around the API: connection limits, TLS, CORS and
// graceful shutdown.
package serve

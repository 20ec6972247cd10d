package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// The wait before a second try is firstWait, before a third twice that, and so
// on, each shortened by chance by up to half, so that clients that failed
// together do not come back together. Where the server says when to come back,
// that counts, unless it is longer than longestWait: then the caller decides.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 30 * time.Second
)

// repeat makes a request with try, several times where that is safe and may
// help.
func (c *Client) repeat(ctx context.Context, r request, try func() error) error {
	tries := c.Tries
	if !r.safe() {
		tries = 1
	}
	wait := firstWait
	for n := 1; ; n++ {
		err := try()
		if err == nil || n >= tries || ctx.Err() != nil {
			return err
		}
		pause, again := comeBack(err, n > 1)
		pause = max(pause, wait-rand.N(wait/2))
		if deadline, ok := ctx.Deadline(); !again || pause > longestWait || ok && time.Until(deadline) < pause {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting to retry after: %w", ctx.Err(), err)
		case <-time.After(pause):
		}
		wait *= 2
	}
}

// safe reports whether the request may arrive twice.
func (r request) safe() bool {
	switch {
	case r.single, r.method == http.MethodPatch:
		return false
	case r.method == http.MethodPost:
		return r.once != ""
	}
	return true
}

// comeBack reports whether the same request may fare better, and when the
// server said that it would. repeated says that it was made before.
func comeBack(err error, repeated bool) (after time.Duration, again bool) {
	if p, ok := errors.AsType[*Problem](err); ok {
		switch p.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return p.RetryAfter, true
		case http.StatusConflict:
			// An earlier try of ours, whose connection broke, is still at work.
			return 0, repeated && p.Kind() == "idempotency-in-progress"
		}
		return 0, false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return 0, false
	}
	// Anything else is a request that got no answer, but for one that was
	// none at all.
	broken, ok := errors.AsType[*url.Error](err)
	return 0, !ok || broken.Op != "parse"
}

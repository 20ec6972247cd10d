package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// ResponseStore has the responses that are kept for idempotency keys.
type ResponseStore interface {
	KeepResponse(context.Context, feedmill.IdempotentResponse) error
	KeptResponse(ctx context.Context, workspace feedmill.ID, owner, key string, now time.Time) (feedmill.IdempotentResponse, error)
}

// maxIdempotencyKey is how many bytes an Idempotency-Key may have.
const maxIdempotencyKey = 255

// claimAfter is how long a request is in progress before other replicas see it. Until then, the
// store's unique key decides at commit, so that short requests cost no write.
const claimAfter = 200 * time.Millisecond

// inFlight holds the idempotency keys that requests of this process are
// working under.
type inFlight struct {
	mu   sync.Mutex
	keys map[ownedKey]bool
}

// ownedKey is a key with whose it is: each credential has keys of its own.
type ownedKey struct {
	workspace  feedmill.ID
	owner, key string
}

func (f *inFlight) begin(who feedmill.Principal, key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := ownedKey{who.Workspace, who.Subject, key}
	if f.keys[k] {
		return false
	}
	if f.keys == nil {
		f.keys = make(map[ownedKey]bool)
	}
	f.keys[k] = true
	return true
}

func (f *inFlight) end(who feedmill.Principal, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, ownedKey{who.Workspace, who.Subject, key})
}

// idempotentCall is the part of a call that makes it happen once.
type idempotentCall struct {
	key  string
	hash hash.Hash
	seal func(answer) (*feedmill.IdempotentResponse, error)
	kept bool
	// failed is why an answer could not be kept although the effect was had.
	failed error
}

// keep is what a handler hands to the store method that has the effect, for
// the answer to be written with it; nil for a request without an
// Idempotency-Key.
func (c *call) keep(a answer) *feedmill.IdempotentResponse {
	if c.idempotent == nil {
		return nil
	}
	response, err := c.idempotent.seal(a)
	if err != nil {
		panic(fmt.Errorf("sealing a response: %w", err)) // before the effect
	}
	c.idempotent.kept = true
	return response
}

// keepInside is keep for a store that asks in the middle of its transaction,
// where a panic would take the work of others with it: what goes wrong is an
// error. The answer is rendered for requests without an Idempotency-Key too.
func (c *call) keepInside(render func() answer) (a answer, response *feedmill.IdempotentResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, response, err = answer{}, nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	a = render()
	return a, c.keep(a), nil
}

// keepWith is what is handed to those who have an effect and know its outcome
// only in the middle of it.
func keepWith[T any](c *call, render func(outcome T) answer) func(T) (*feedmill.IdempotentResponse, error) {
	return func(outcome T) (*feedmill.IdempotentResponse, error) {
		if c.idempotent == nil {
			return nil, nil
		}
		_, response, err := c.keepInside(func() answer { return render(outcome) })
		return response, err
	}
}

// keepOrFail is keepInside where the store takes no error. It lets the effect
// be had without its answer, and makes the request fail so that the client
// knows that something is wrong.
func (c *call) keepOrFail(render func() answer) *feedmill.IdempotentResponse {
	if c.idempotent == nil {
		return nil
	}
	_, response, err := c.keepInside(render)
	c.idempotent.failed = err
	return response
}

// runIdempotent answers a request that carries an Idempotency-Key.
func (s *Server) runIdempotent(c *call, keys []string, rt route) (answer, error) {
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxIdempotencyKey || !printable(key) {
		c.fault(feedmill.Fault{Header: "Idempotency-Key", Detail: fmt.Sprintf("Idempotency-Key must be sent once, with 1 to %d visible ASCII characters.", maxIdempotencyKey)})
		return rt.handle(c) // which finds the other faults, and refuses
	}
	if rt.reads {
		return rt.handle(c)
	}
	if !s.inFlight.begin(c.who, key) {
		return answer{}, errInProgress
	}
	defer s.inFlight.end(c.who, key)

	c.idempotent = &idempotentCall{key: key, hash: c.fingerprint()}
	c.idempotent.seal = func(a answer) (*feedmill.IdempotentResponse, error) { return s.sealAnswer(c, a) }
	c.r.Body = readCloser{io.TeeReader(c.r.Body, c.idempotent.hash), c.r.Body}

	if a, found, err := s.repeated(c); found || err != nil {
		return a, err
	}
	defer s.claimLater(c.ctx(), feedmill.IdempotencyPool(c.who.Workspace, c.who.Subject, key))()
	a, err := rt.handle(c)
	if err == nil && c.idempotent.failed != nil {
		return answer{}, fmt.Errorf("storing a response: %w", c.idempotent.failed)
	}
	if errors.Is(err, feedmill.ErrIdempotencyKeyUsed) {
		// Another replica was first; its answer is the answer.
		a, found, err := s.repeated(c)
		if !found && err == nil {
			err = fmt.Errorf("the stored response of an idempotency key is missing: %w", feedmill.ErrUnavailable)
		}
		return a, err
	}
	if c.idempotent.kept && err == nil {
		return a, nil
	}
	return s.keepRefusal(c, a, err)
}

var errInProgress = &feedmill.Error{
	Kind: feedmill.ErrConflict, Type: "idempotency-in-progress",
	Detail: "A request with this Idempotency-Key is still in progress. Wait for its response, then retry.",
}

// claimLater marks a request as in progress for other replicas, unless it ends soon. The result
// ends the mark.
func (s *Server) claimLater(ctx context.Context, pool string) (end func()) {
	if s.Permits == nil {
		return func() {}
	}
	var mu sync.Mutex
	var ended bool
	var release func()
	timer := time.AfterFunc(claimAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			release, _, _ = s.Permits.Try(ctx, pool, 0, 0) // without it, the commit decides
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
		if release != nil {
			release()
		}
	}
}

// keepRefusal keeps an answer that came with no effect. It does not keep faults of
// our own, canceled requests, and refusals that pass with time, such as those of a
// quota: a repetition may succeed.
func (s *Server) keepRefusal(c *call, a answer, err error) (answer, error) {
	if err != nil {
		if refusal, ok := errors.AsType[*feedmill.Error](err); isAborted(err) || ok && refusal.Transient {
			return a, err
		}
		a = problemOf(err, c.r.URL.Path, c.requestID).answer()
	}
	if a.status >= 500 || a.status == http.StatusTooManyRequests {
		return a, err
	}
	if _, err := io.Copy(io.Discard, c.r.Body); err != nil {
		return a, nil // too large or broken off: there is no fingerprint
	}
	response, sealErr := s.sealAnswer(c, a)
	if sealErr != nil {
		return answer{}, sealErr
	}
	if err := s.Store.KeepResponse(c.ctx(), *response); err != nil && !errors.Is(err, feedmill.ErrIdempotencyKeyUsed) {
		return answer{}, err
	}
	return a, nil
}

// repeated finds the answer that was given before under the call's key.
func (s *Server) repeated(c *call) (a answer, found bool, err error) {
	response, err := s.Store.KeptResponse(c.ctx(), c.who.Workspace, c.who.Subject, c.idempotent.key, now())
	if errors.Is(err, feedmill.ErrNotFound) {
		return answer{}, false, nil
	}
	if errors.Is(err, feedmill.ErrIdempotencyKeyInProgress) {
		return answer{}, false, errInProgress
	}
	if err != nil {
		return answer{}, false, err
	}
	if _, err := io.Copy(io.Discard, c.r.Body); err != nil {
		return answer{}, false, bodyError(err)
	}
	if !bytes.Equal(c.idempotent.hash.Sum(nil), response.Fingerprint[:]) {
		return answer{}, false, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "idempotency-mismatch",
			Detail: "The Idempotency-Key was already used for a different request. Use a new key for each new request.",
			Faults: []feedmill.Fault{{Header: "Idempotency-Key", Detail: "The first request with this key differs in method, path, query, Content-Type or body."}},
		}
	}
	plain, err := s.Vault.Unseal(c.ctx(), response.Answer, response.Record())
	if err != nil {
		return answer{}, false, err
	}
	var kept keptAnswer
	if err := json.Unmarshal(plain, &kept); err != nil {
		return answer{}, false, fmt.Errorf("reading a stored response: %w", err)
	}
	return answer{status: kept.Status, header: kept.Header, contentType: kept.ContentType, body: kept.Body}, true, nil
}

type keptAnswer struct {
	Status      int
	Header      [][2]string
	ContentType string
	Body        []byte
}

func (s *Server) sealAnswer(c *call, a answer) (*feedmill.IdempotentResponse, error) {
	plain, err := json.Marshal(keptAnswer{a.status, a.header, a.contentType, a.body})
	if err != nil {
		return nil, err
	}
	response := feedmill.IdempotentResponse{Workspace: c.who.Workspace, Owner: c.who.Subject, Key: c.idempotent.key, ExpiresAt: now().Add(feedmill.IdempotencyLifetime)}
	c.idempotent.hash.Sum(response.Fingerprint[:0])
	response.Answer, err = s.Vault.Seal(plain, response.Record())
	return &response, err
}

// fingerprint begins the hash of what makes the request what it is; the body
// follows while it is read.
func (c *call) fingerprint() hash.Hash {
	h := sha256.New()
	for _, part := range []string{c.r.Method, c.r.URL.EscapedPath(), c.r.URL.RawQuery, c.r.Header.Get("Content-Type")} {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		io.WriteString(h, part)
	}
	return h
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

type readCloser struct {
	io.Reader
	io.Closer
}

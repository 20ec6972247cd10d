package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime/debug"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// maxOnceKey is how many bytes an Idempotency-Key may have.
const maxOnceKey = 255

// inFlight holds the idempotency keys that requests of this process are
// working under. Across replicas, the store's unique key decides at commit.
type inFlight struct {
	mu   sync.Mutex
	keys map[[2]string]bool
}

func (f *inFlight) begin(workspace feedmill.ID, key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := [2]string{string(workspace), key}
	if f.keys[k] {
		return false
	}
	if f.keys == nil {
		f.keys = make(map[[2]string]bool)
	}
	f.keys[k] = true
	return true
}

func (f *inFlight) end(workspace feedmill.ID, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, [2]string{string(workspace), key})
}

// onceCall is the part of a call that makes it happen once.
type onceCall struct {
	key  string
	hash hash.Hash
	seal func(answer) (*feedmill.Once, error)
	kept bool
	// failed is why an answer could not be kept although the effect was had.
	failed error
}

// keep is what a handler hands to the store method that has the effect, for
// the answer to be written with it; nil for a request without an
// Idempotency-Key.
func (c *call) keep(a answer) *feedmill.Once {
	if c.once == nil {
		return nil
	}
	once, err := c.once.seal(a)
	if err != nil {
		panic(fmt.Errorf("sealing an answer: %w", err)) // before the effect
	}
	c.once.kept = true
	return once
}

// keepInside is keep for a store that asks in the middle of its transaction,
// where a panic would take the work of others with it: what goes wrong is an
// error. The answer is rendered for requests without an Idempotency-Key too.
func (c *call) keepInside(render func() answer) (a answer, once *feedmill.Once, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, once, err = answer{}, nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	a = render()
	return a, c.keep(a), nil
}

// keepOrFail is keepInside where the store takes no error. It lets the effect
// be had without its answer, and makes the request fail so that the client
// knows that something is wrong.
func (c *call) keepOrFail(render func() answer) *feedmill.Once {
	if c.once == nil {
		return nil
	}
	_, once, err := c.keepInside(render)
	c.once.failed = err
	return once
}

// runOnce answers a request that carries an Idempotency-Key.
func (s *Server) runOnce(c *call, keys []string, rt route) (answer, error) {
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxOnceKey || !printable(key) {
		c.fault(feedmill.Fault{Header: "Idempotency-Key", Detail: fmt.Sprintf("Send it once, with 1 to %d visible ASCII characters.", maxOnceKey)})
		return rt.handle(c) // which finds the other faults, and refuses
	}
	workspace := c.who.Workspace
	if !s.inFlight.begin(workspace, key) {
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "idempotency-in-progress",
			Detail: "A request with this Idempotency-Key is still in progress; wait for its answer, then repeat.",
		}
	}
	defer s.inFlight.end(workspace, key)

	c.once = &onceCall{key: key, hash: c.fingerprint()}
	c.once.seal = func(a answer) (*feedmill.Once, error) { return s.sealAnswer(c, a) }
	c.r.Body = readCloser{io.TeeReader(c.r.Body, c.once.hash), c.r.Body}

	if a, found, err := s.repeated(c); found || err != nil {
		return a, err
	}
	a, err := rt.handle(c)
	if err == nil && c.once.failed != nil {
		return answer{}, fmt.Errorf("keeping an answer: %w", c.once.failed)
	}
	if errors.Is(err, feedmill.ErrAnswered) {
		// Another replica was first; its answer is the answer.
		a, found, err := s.repeated(c)
		if !found && err == nil {
			err = fmt.Errorf("an answered idempotency key has no answer: %w", feedmill.ErrUnavailable)
		}
		return a, err
	}
	if c.once.kept && err == nil {
		return a, nil
	}
	return s.keepRefusal(c, a, err)
}

// keepRefusal keeps an answer that came with no effect. Faults of our own and
// requests that were broken off are not kept: a repetition may succeed.
func (s *Server) keepRefusal(c *call, a answer, err error) (answer, error) {
	if err != nil {
		if isAborted(err) {
			return a, err
		}
		a = problemOf(err, c.r.URL.Path, c.requestID).answer()
	}
	if a.status >= 500 {
		return a, err
	}
	if _, err := io.Copy(io.Discard, c.r.Body); err != nil {
		return a, nil // too large or broken off: there is no fingerprint
	}
	once, sealErr := s.sealAnswer(c, a)
	if sealErr != nil {
		return answer{}, sealErr
	}
	if err := s.Store.Keep(c.ctx(), *once); err != nil && !errors.Is(err, feedmill.ErrAnswered) {
		return answer{}, err
	}
	return a, nil
}

// repeated finds the answer that was given before under the call's key.
func (s *Server) repeated(c *call) (a answer, found bool, err error) {
	once, err := s.Store.Answered(c.ctx(), c.who.Workspace, c.once.key, now())
	if errors.Is(err, feedmill.ErrNotFound) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	if _, err := io.Copy(io.Discard, c.r.Body); err != nil {
		return answer{}, false, bodyError(err)
	}
	if !bytes.Equal(c.once.hash.Sum(nil), once.Fingerprint[:]) {
		return answer{}, false, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "idempotency-mismatch",
			Detail: "This Idempotency-Key was used for another request; use a new key for a new request.",
			Faults: []feedmill.Fault{{Header: "Idempotency-Key", Detail: "The first request with this key differs in method, path, query, Content-Type or body."}},
		}
	}
	plain, err := s.Vault.Unseal(c.ctx(), once.Answer, onceRecord(once))
	if err != nil {
		return answer{}, false, err
	}
	var kept keptAnswer
	if err := json.Unmarshal(plain, &kept); err != nil {
		return answer{}, false, fmt.Errorf("kept answer: %w", err)
	}
	return answer{status: kept.Status, header: kept.Header, contentType: kept.ContentType, body: kept.Body}, true, nil
}

type keptAnswer struct {
	Status      int
	Header      [][2]string
	ContentType string
	Body        []byte
}

func (s *Server) sealAnswer(c *call, a answer) (*feedmill.Once, error) {
	plain, err := json.Marshal(keptAnswer{a.status, a.header, a.contentType, a.body})
	if err != nil {
		return nil, err
	}
	once := feedmill.Once{Workspace: c.who.Workspace, Key: c.once.key, ExpiresAt: now().Add(feedmill.OnceLifetime)}
	c.once.hash.Sum(once.Fingerprint[:0])
	once.Answer, err = s.Vault.Seal(plain, onceRecord(once))
	return &once, err
}

func onceRecord(o feedmill.Once) string { return "once/" + string(o.Workspace) + "/" + o.Key }

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

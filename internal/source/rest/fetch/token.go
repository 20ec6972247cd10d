package fetch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// receivedToken is what a source gives for the secrets of a spec.
type receivedToken struct {
	text string
	// lives is how long it is good for, 0 where nobody knows.
	lives time.Duration
	// rotated is what is to be given the next time, empty where it stays.
	rotated string
	// borrowed says that it is another's, who has received it before.
	borrowed bool
}

// tokens are those received, for as long as they are good.
type tokens struct {
	mu sync.Mutex
	of map[string]*tokenSlot
}

// tokenSlot has the token of one source and credential.
type tokenSlot struct {
	// turn is held by whoever looks at the slot, so that one asks for a token
	// and the others wait for it.
	turn chan struct{}
	text string
	// borrowed says that another has received it.
	borrowed bool
	// refused is the last that the source did not take.
	refused string
	// until is when the token is to be renewed, zero for when it is refused.
	until time.Time
	used  time.Time // guarded by the mutex of tokens
	// inBody says that the client's secrets are sent in the body.
	inBody bool
}

// get gives the token of a key, and says whether it is borrowed. Only one asks for it
// at a time; one whose ctx ends leaves the turn to the next.
func (t *tokens) get(ctx context.Context, key string, receive func(context.Context, *tokenSlot) (receivedToken, error)) (text string, borrowed bool, err error) {
	slot, err := t.slot(ctx, key)
	if err != nil {
		return "", false, err
	}
	defer slot.release()
	if slot.text != "" && (slot.until.IsZero() || time.Now().Before(slot.until)) {
		return slot.text, slot.borrowed, nil
	}
	received, err := receive(ctx, slot)
	if err != nil {
		return "", false, err
	}
	slot.text, slot.borrowed, slot.until = received.text, received.borrowed, time.Time{}
	if received.lives > 0 {
		// It is renewed before it ends, by a tenth of its life or half a minute.
		slot.until = time.Now().Add(received.lives - min(received.lives/10, 30*time.Second))
	}
	return slot.text, slot.borrowed, nil
}

// drop forgets a token that was refused, unless another has taken its place.
func (t *tokens) drop(ctx context.Context, key, text string) error {
	slot, err := t.slot(ctx, key)
	if err != nil {
		return err
	}
	defer slot.release()
	if slot.text == text {
		slot.text, slot.refused = "", text
	}
	return nil
}

// slot takes the turn at the slot of a key.
func (t *tokens) slot(ctx context.Context, key string) (*tokenSlot, error) {
	t.mu.Lock()
	if t.of == nil {
		t.of = make(map[string]*tokenSlot)
	}
	slot := t.of[key]
	if slot == nil {
		t.forget()
		slot = &tokenSlot{turn: make(chan struct{}, 1)}
		t.of[key] = slot
	}
	slot.used = time.Now()
	t.mu.Unlock()
	select {
	case slot.turn <- struct{}{}:
		return slot, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *tokenSlot) release() { <-s.turn }

// forget drops what has not been used for long, once there is much.
func (t *tokens) forget() {
	const many, long = 1024, 24 * time.Hour
	if len(t.of) < many {
		return
	}
	for key, slot := range t.of {
		if time.Since(slot.used) > long {
			delete(t.of, key)
		}
	}
}

// signing counts the requests of a fetch that are in flight, and those with the credential
// of the source that it has taken.
type signing struct{ inFlight, taken atomic.Int64 }

// How often one request has a token renewed that was refused: in all, and where nothing
// was taken since the last time. Then a token was refused that nobody else had used up,
// unless others are in flight that may have.
const (
	maxRenewals       = 10
	fruitless         = 1
	fruitlessOfOthers = 3
)

// renewals are those of one request.
type renewals struct {
	all, fruitless int
	taken          int64
}

// another reports whether it is worth it to renew a token that was refused, after so many
// requests of the fetch were taken and with others in flight. Some sources give tokens that
// are good for a few requests, which are used up by those made at the same time.
func (r *renewals) another(refused credential, taken int64, others bool) bool {
	if r.all > 0 && taken != r.taken {
		r.fruitless = 0
	}
	r.taken = taken
	r.all++
	if !refused.borrowed { // That one is yet to be received.
		r.fruitless++
	}
	most := fruitless
	if others {
		most = fruitlessOfOthers
	}
	return r.all <= maxRenewals && r.fruitless <= most
}

package feedmill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// IdempotentResponse is the answer kept for a request that carried an
// Idempotency-Key. It is written in the same transaction as the effect of that
// request: either both are there or neither, so that a repeated request can
// never act twice.
type IdempotentResponse struct {
	Workspace ID
	// Owner is the credential that made the request, and the only one that the
	// answer is given to again; empty in answers that were kept before they
	// had owners.
	Owner string
	// Key is what the client sent as Idempotency-Key.
	Key string
	// Fingerprint is of everything that makes the request what it is.
	Fingerprint [sha256.Size]byte
	// Answer is sealed: an answer can hold a secret.
	Answer    []byte
	ExpiresAt time.Time
}

// IdempotencyLifetime is how long a kept answer is given again.
const IdempotencyLifetime = 24 * time.Hour

// ErrIdempotencyKeyInProgress is what a store returns for a key under which a request is in
// progress on another replica.
var ErrIdempotencyKeyInProgress = errors.New("a request with the idempotency key is in progress")

// IdempotencyPool is the pool of permits of which a request in progress has the only one.
func IdempotencyPool(workspace ID, owner, key string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", workspace, owner, key))
	return "idempotency " + hex.EncodeToString(sum[:])
}

// ErrIdempotencyKeyUsed is what a store returns when the key of an
// [IdempotentResponse] has an answer already. The effect that came with it has
// been undone.
var ErrIdempotencyKeyUsed = errors.New("the idempotency key already has a response")

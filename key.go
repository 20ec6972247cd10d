package feedmill

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"
)

// Scope is a permission that a credential holds.
type Scope string

// The scopes. ScopeAdmin is for workspaces and keys; it does not include the others.
const (
	ScopeRead    Scope = "api:read"
	ScopeWrite   Scope = "api:write"
	ScopePublish Scope = "events:publish"
	ScopeAdmin   Scope = "admin"
)

// Scopes lists every scope there is.
var Scopes = []Scope{ScopeRead, ScopeWrite, ScopePublish, ScopeAdmin}

// Key is an API key as it is kept: the key itself is not part of it, only its hash.
type Key struct {
	ID        ID
	Workspace ID
	Name      string
	Scopes    []Scope
	Hash      KeyHash
	CreatedAt time.Time
	// LastUsedAt trails the truth by a few seconds; zero means never used.
	LastUsedAt time.Time
	// ExpiresAt is zero for a key that is good until it is revoked.
	ExpiresAt time.Time
	// RevokedAt is zero while the key is good.
	RevokedAt time.Time
}

// KeyQuery asks for a part of the keys of a workspace, newest first; of all
// workspaces where none is named.
type KeyQuery struct {
	Page
	Workspace ID
	// Revoked has those listed too that are revoked.
	Revoked bool
}

// KeyHash is the SHA-256 of an API key. Keys are 256 bits of randomness, so
// that a plain hash is as strong as a slow one.
type KeyHash [sha256.Size]byte

// Equal compares in constant time.
func (h KeyHash) Equal(other KeyHash) bool {
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// HashKey is the hash under which an API key is kept.
func HashKey(key string) KeyHash { return sha256.Sum256([]byte(key)) }

// KeyPrefix begins every API key that the service makes.
const KeyPrefix = "fm_"

// MinBootstrapKeyLen is the least length of a first key chosen by the operator.
const MinBootstrapKeyLen = 24

// Principal is who makes a request: a credential that has been verified.
type Principal struct {
	Workspace ID
	// Subject names the credential in logs and rate limits: a key's id or a
	// token's issuer and subject.
	Subject string
	// Name is what people call it.
	Name   string
	Scopes []Scope
	// AllWorkspaces is set for an admin of the default workspace.
	AllWorkspaces bool
	// SignedIn is set for a person who comes back from the OIDC issuer, and who may begin a
	// session without a key.
	SignedIn bool
	// Quotas are those of the workspace.
	Quotas Quotas
	// Portal is the portal link of a session of the portal, which can use only the operations
	// of its pages; nil for every other credential.
	Portal *PortalLink
}

// Has reports whether the principal holds the scope.
func (p Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }

// SplitScopes reads scopes from the text form of OAuth, where spaces part them.
func SplitScopes(s string) []Scope {
	fields := strings.Fields(s)
	scopes := make([]Scope, len(fields))
	for i, f := range fields {
		scopes[i] = Scope(f)
	}
	return scopes
}

// JoinScopes is the reverse of [SplitScopes].
func JoinScopes(scopes []Scope) string {
	fields := make([]string, len(scopes))
	for i, s := range scopes {
		fields[i] = string(s)
	}
	return strings.Join(fields, " ")
}

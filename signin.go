package feedmill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// SignIn is how far somebody has come who connects a service that only a person can
// connect: with a link that is good once, at the provider, and back here.
type SignIn struct {
	// Link is the hash of what the link ends with, and Visit that of what the
	// browser holds from the moment on at which the sign-in begins.
	Link, Visit []byte
	Workspace   ID
	// Service is the name of the service, and Connection that of the connection
	// that is to be connected again, empty for a new one.
	Service    string
	Connection ID
	// RedirectURI is where the browser goes in the end, empty for nowhere.
	RedirectURI string
	State       SignInState
	// Secrets are what the provider is held to, and then what it granted, sealed.
	Secrets              []byte
	CreatedAt, ExpiresAt time.Time
}

// SignInState is how far a sign-in is.
type SignInState string

// The states of a sign-in, in their order.
const (
	SignInOffered SignInState = "offered" // there is a link
	SignInBegun   SignInState = "begun"   // the link is used up, and the provider is asked
	SignInGranted SignInState = "granted" // the provider has said yes
	SignInDone    SignInState = "done"    // there is a feed, or an end
)

const (
	// SignInOffer is how long a link is good for, and SignInVisit how long somebody
	// has from the beginning of the sign-in on.
	SignInOffer = 15 * time.Minute
	SignInVisit = 30 * time.Minute
)

// Record is the record of what is sealed.
func (s SignIn) Record() string { return "signin/" + base64.RawURLEncoding.EncodeToString(s.Link) }

// NewToken makes a token that nobody can guess, and its hash, which is all that is
// kept of it.
func NewToken() (token string, hash []byte) {
	random := make([]byte, 32)
	rand.Read(random)
	token = base64.RawURLEncoding.EncodeToString(random)
	return token, HashToken(token)
}

// HashToken is the hash of a token.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

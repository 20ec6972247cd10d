package feedmill

import (
	"crypto/rand"
	"encoding/base64"
	"time"
)

// Session is a person in a browser who works with an API key, or who has signed in at
// the OIDC issuer. The browser has a token in place of either, of which only the hash
// is kept.
type Session struct {
	ID ID
	// Workspace is the one that the person works in: the key's or the person's own, or
	// another where they may.
	Workspace ID
	// Key is empty where there is a Person.
	Key    ID
	Person SessionPerson
	// Token is the hash of the present token and Former that of the one before,
	// which requests that were under way may still have.
	Token, Former KeyHash
	CreatedAt     time.Time
	RotatedAt     time.Time
	// SeenAt trails the truth by up to SessionTouch.
	SeenAt time.Time
}

// SessionPerson is who the OIDC issuer said that somebody is, at the sign-in.
type SessionPerson struct {
	// Subject names the issuer too, as that of a [Principal] does.
	Subject, Name string
	Scopes        []Scope
	// Home is the workspace that the issuer named.
	Home ID
}

// How long a session lasts: SessionAge in all, and SessionIdle without a
// request. Its token is another after SessionRotation, and the one before is
// good for SessionGrace more.
const (
	SessionAge      = 12 * time.Hour
	SessionIdle     = 2 * time.Hour
	SessionRotation = 15 * time.Minute
	SessionGrace    = time.Minute
	SessionTouch    = time.Minute
)

// Ends is when the session ends, if there is no further request.
func (s Session) Ends() time.Time {
	end, idle := s.CreatedAt.Add(SessionAge), s.SeenAt.Add(SessionIdle)
	if idle.Before(end) {
		return idle
	}
	return end
}

// NewSessionToken makes the secret text that a browser has for a session.
func NewSessionToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

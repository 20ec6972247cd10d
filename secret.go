package feedmill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// Hidden stands for a secret wherever one could be seen. Written back it means
// the secret that is there.
const Hidden = "***"

// What must not stand in the store as plain text is sealed under the name of the
// record that it belongs to, so that it opens nowhere else. The names are part
// of what is stored and never change.

// SecretsRecord is the record of a subscription's [SigningSecrets].
func (s Subscription) SecretsRecord() string { return "sub/" + string(s.ID) + "/secrets" }

// ConfigRecord is the record of the configuration of a subscription's destination. It has
// the name of what it was first: the extra headers of a webhook.
func (s Subscription) ConfigRecord() string { return "sub/" + string(s.ID) + "/headers" }

// URLRecord is the record of a subscription's URL.
func (s Subscription) URLRecord() string { return "sub/" + string(s.ID) + "/url" }

// ShownRecord is the record of what is shown of the configuration of a subscription's
// destination.
func (s Subscription) ShownRecord() string { return "sub/" + string(s.ID) + "/shown" }

// SecretsRecord is the record of a source's secrets.
func (s Source) SecretsRecord() string { return string(s.ID) }

// SecretsRecord is the record of a connection's secrets.
func (c Connection) SecretsRecord() string { return "con/" + string(c.ID) + "/secrets" }

// ReceivedRecord is the record of what was received for a refresh token.
func (c Connection) ReceivedRecord() string { return "connection/" + string(c.ID) + "/received" }

// Record is the record of a sign-in's secrets.
func (s SignIn) Record() string { return "signin/" + base64.RawURLEncoding.EncodeToString(s.Link) }

// Record is the record of a kept response.
func (r IdempotentResponse) Record() string {
	if r.Owner == "" { // it was kept before answers had owners
		return "once/" + string(r.Workspace) + "/" + r.Key
	}
	return "once/" + string(r.Workspace) + "/" + r.Owner + "/" + r.Key
}

// SigningSecrets are the secrets that sign a subscription's deliveries. During
// a rotation's overlap there are two.
type SigningSecrets struct {
	// Current signs x-service-signature.
	Current string `json:"current"`
	// Next takes over at SwitchAt; empty where no rotation is under way.
	Next     string    `json:"next,omitzero"`
	SwitchAt time.Time `json:"switchAt,omitzero"`
}

// At returns the secrets as they are at t: after the overlap, the next secret
// is the current one and there is no other.
func (s SigningSecrets) At(t time.Time) SigningSecrets {
	if s.Next != "" && !t.Before(s.SwitchAt) {
		return SigningSecrets{Current: s.Next}
	}
	return s
}

// SecretPrefix begins every signing secret.
const SecretPrefix = "whsec_"

// The bytes that a signing secret of a client may have.
const (
	minSigningSecret = 24
	maxSigningSecret = 64
)

// CheckSigningSecret returns an error if a text that a client gives is not a signing secret.
// The error does not repeat it.
func CheckSigningSecret(text string) error {
	encoded, ok := strings.CutPrefix(text, SecretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || strings.ContainsAny(encoded, "\r\n") || len(key) < minSigningSecret || len(key) > maxSigningSecret {
		return fmt.Errorf("signingSecret must be %s and the standard padded base64 of %d to %d bytes", SecretPrefix, minSigningSecret, maxSigningSecret)
	}
	return nil
}

// NewSigningSecret makes a signing secret: 256 bits behind the prefix.
func NewSigningSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return SecretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// NewLinkSecret makes the secret text of a new link.
func NewLinkSecret() string { return randomText() }

// NewSessionToken makes the secret text that a browser has for a session.
func NewSessionToken() string { return randomText() }

// NewToken makes a token that nobody can guess, and its hash, which is all that is
// kept of it.
func NewToken() (token string, hash []byte) {
	token = randomText()
	return token, HashToken(token)
}

// HashToken is the hash of a token.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// NewKeySecret makes the secret text of a new API key.
func NewKeySecret() string { return KeyPrefix + randomText() }

// randomText is 256 random bits in characters that URLs and headers take.
func randomText() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

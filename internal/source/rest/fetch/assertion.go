package fetch

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// assertionLife is how long the word for a token is good. Some sources take none
// that is good for longer.
const assertionLife = 3 * time.Minute

// assertionLag is by how much it says to be older than it is, for sources whose clock
// is behind.
const assertionLag = 30 * time.Second

type assertionSigner struct {
	tokenSigner
	*spec.ServiceAccount
}

func (a assertionSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	return func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return a.assert(ctx, r, traced) }
}

// assert asks for a token with a signed assertion.
func (a assertionSigner) assert(ctx context.Context, r *run, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	build := func(ctx context.Context) (*http.Request, error) {
		assertion, err := a.assertion(time.Now())
		if err != nil {
			return nil, err
		}
		r.mask.Add(assertion)
		form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
		if a.Scope != "" {
			form.Set("scope", a.Scope)
		}
		return newRequest(ctx, http.MethodPost, a.URL, form.Encode(), "application/x-www-form-urlencoded")
	}
	found, err := r.askToken(ctx, build, r.spec.Request.Timeout, traced, nil, accessTokenPath, expiresInPath)
	if err != nil {
		return receivedToken{}, err
	}
	return r.received(found[0], found[1])
}

// assertion is the signed word of a service account for which a source gives a
// token (RFC 7523).
func (a assertionSigner) assertion(now time.Time) (string, error) {
	header := map[string]string{"typ": "JWT", "alg": "RS256"}
	if _, elliptic := a.Key.(*ecdsa.PrivateKey); elliptic {
		header["alg"] = "ES256"
	}
	if a.KeyID != "" {
		header["kid"] = a.KeyID
	}
	claims := map[string]any{"iss": a.Issuer, "aud": a.Audience, "iat": now.Add(-assertionLag).Unix(), "jti": rand.Text(), "exp": now.Add(assertionLife).Unix()}
	if a.Audience == "" {
		claims["aud"] = a.URL.String()
	}
	if a.Subject != "" {
		claims["sub"] = a.Subject
	}
	if a.Scope != "" {
		claims["scope"] = a.Scope
	}
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	hash := sha256.Sum256([]byte(text))
	var signature []byte
	switch key := a.Key.(type) {
	case *ecdsa.PrivateKey:
		var r, s *big.Int
		if r, s, err = ecdsa.Sign(rand.Reader, key, hash[:]); err == nil {
			signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
	case *rsa.PrivateKey:
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, hash[:])
	}
	if err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

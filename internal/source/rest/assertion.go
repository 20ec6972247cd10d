package rest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// assertionLife is how long the word for a token is good. Some sources take none
// that is good for longer.
const assertionLife = 3 * time.Minute

// assertionLag is by how much it says to be older than it is, for sources whose clock
// is behind.
const assertionLag = 30 * time.Second

// parsePrivateKey reads a private key in PEM. The error repeats nothing of it.
func parsePrivateKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		block, _ = pem.Decode([]byte(inLines(text)))
	}
	if block == nil {
		return nil, errors.New("the private key must be PEM: text that begins with -----BEGIN PRIVATE KEY-----")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, wantP256(key)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the private key cannot be read; it must be an RSA or P-256 key without a passphrase")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		return key, wantP256(key)
	}
	return nil, errors.New("the private key must be an RSA key or one on the curve P-256")
}

// inLines is a key in PEM whose lines were lost on the way: they are blanks, or \n as
// the file of a service account has them.
func inLines(text string) string {
	text = strings.NewReplacer(`\r`, "", `\n`, " ").Replace(text)
	const begin, end = "-----BEGIN ", "-----END "
	_, label, _ := strings.Cut(text, begin)
	label, rest, _ := strings.Cut(label, "-----")
	body, _, found := strings.Cut(rest, end+label+"-----")
	if !found {
		return ""
	}
	return begin + label + "-----\n" + strings.Join(strings.Fields(body), "\n") + "\n" + end + label + "-----\n"
}

func wantP256(key *ecdsa.PrivateKey) error {
	if key.Curve.Params().BitSize != 256 {
		return errors.New("the private key must be an RSA key or one on the curve P-256")
	}
	return nil
}

// serviceAccount is given tokens for assertions that it signs.
type serviceAccount struct {
	tokenEndpoint
	key crypto.Signer
	// text is the key as the definition has it.
	text                             string
	keyID, issuer, subject, audience string
}

func readServiceAccount(o *object) auth {
	a := &serviceAccount{tokenEndpoint: o.readTokenURL()}
	if a.text = o.needText("privateKey"); a.text != "" {
		var err error
		if a.key, err = parsePrivateKey(a.text); err != nil {
			o.unreadable("privateKey", upperFirst(err.Error())+".")
		}
	}
	o.secret("privateKey")
	a.issuer = o.needText("issuer")
	a.keyID, _ = o.text("keyId")
	a.subject, _ = o.text("subject")
	a.audience, _ = o.text("audience")
	return a
}

type assertionSigner struct {
	tokenSigner
	*serviceAccount
}

func (a assertionSigner) receiver(r *run, traced *[]feedmill.TracedRequest) tokenReceiver {
	return func(ctx context.Context, _ *tokenSlot) (receivedToken, error) { return a.assert(ctx, r, traced) }
}

func (a *serviceAccount) tell(add func(...string)) {
	add("jwtBearer", a.text, a.issuer, a.subject, a.audience)
	a.tellEndpoint(add)
}

func (a *serviceAccount) hide(m *mask) { m.add(a.text) }

// assert asks for a token with a signed assertion.
func (a assertionSigner) assert(ctx context.Context, r *run, traced *[]feedmill.TracedRequest) (receivedToken, error) {
	build := func(ctx context.Context) (*http.Request, error) {
		assertion, err := a.assertion(time.Now())
		if err != nil {
			return nil, err
		}
		r.mask.add(assertion)
		form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
		if a.scope != "" {
			form.Set("scope", a.scope)
		}
		return newRequest(ctx, http.MethodPost, a.url, form.Encode(), "application/x-www-form-urlencoded")
	}
	found, err := r.askToken(ctx, build, r.spec.request.timeout, traced, nil, accessTokenPath, expiresInPath)
	if err != nil {
		return receivedToken{}, err
	}
	return r.received(found[0], found[1])
}

// assertion is the signed word of a service account for which a source gives a
// token (RFC 7523).
func (a assertionSigner) assertion(now time.Time) (string, error) {
	header := map[string]string{"typ": "JWT", "alg": "RS256"}
	if _, elliptic := a.key.(*ecdsa.PrivateKey); elliptic {
		header["alg"] = "ES256"
	}
	if a.keyID != "" {
		header["kid"] = a.keyID
	}
	claims := map[string]any{"iss": a.issuer, "aud": a.audience, "iat": now.Add(-assertionLag).Unix(), "jti": rand.Text(), "exp": now.Add(assertionLife).Unix()}
	if a.audience == "" {
		claims["aud"] = a.url.String()
	}
	if a.subject != "" {
		claims["sub"] = a.subject
	}
	if a.scope != "" {
		claims["scope"] = a.scope
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
	switch key := a.key.(type) {
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

package rest

import (
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
	"time"
)

// assertionLife is how long the word for a token is good. Some sources take none
// that is good for longer.
const assertionLife = 3 * time.Minute

// parsePrivateKey reads a private key in PEM. The error repeats nothing of it.
func parsePrivateKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("this is no private key in PEM, which begins with -----BEGIN PRIVATE KEY-----")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, wantP256(key)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("this is no private key that can be read; it must be an RSA or P-256 key, not encrypted")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		return key, wantP256(key)
	}
	return nil, errors.New("the private key must be an RSA key or one on the curve P-256")
}

func wantP256(key *ecdsa.PrivateKey) error {
	if key.Curve.Params().BitSize != 256 {
		return errors.New("the private key must be an RSA key or one on the curve P-256")
	}
	return nil
}

// assertion is the signed word of a service account for which a source gives a
// token (RFC 7523).
func (a *auth) assertion(now time.Time) (string, error) {
	header := map[string]string{"typ": "JWT", "alg": "RS256"}
	if _, elliptic := a.key.(*ecdsa.PrivateKey); elliptic {
		header["alg"] = "ES256"
	}
	if a.keyID != "" {
		header["kid"] = a.keyID
	}
	claims := map[string]any{"iss": a.issuer, "aud": a.audience, "iat": now.Unix(), "exp": now.Add(assertionLife).Unix()}
	if a.audience == "" {
		claims["aud"] = a.tokenURL.String()
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

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
	"strings"
	"time"
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
	claims := map[string]any{"iss": a.issuer, "aud": a.audience, "iat": now.Add(-assertionLag).Unix(), "jti": rand.Text(), "exp": now.Add(assertionLife).Unix()}
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

package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/feedmill/feedmill"
)

// maxCredential is the maximum length of a credential, more than any issuer's token has.
// Longer ones are refused before they are hashed.
const maxCredential = 16 << 10

// bearer returns the credential of an Authorization header (RFC 6750, section 2.1).
func bearer(authorization string) (string, error) {
	if authorization == "" {
		return "", refuse("The request has no credential. Send the header Authorization: Bearer with an API key.")
	}
	scheme, credential, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", refuse("The Authorization header must use the Bearer scheme.")
	}
	credential = strings.Trim(credential, " \t")
	if credential == "" {
		return "", refuse("The Authorization header has no credential after Bearer.")
	}
	if len(credential) > maxCredential {
		return "", refuse("The credential is too long.")
	}
	return credential, nil
}

// canBeKey reports whether a credential can be an API key: keys have the service's prefix
// or at least the length of an operator's first key.
func canBeKey(credential string) bool {
	return strings.HasPrefix(credential, feedmill.KeyPrefix) || len(credential) >= feedmill.MinBootstrapKeyLen
}

// looksLikeJWT reports whether a credential has the compact form of a JWT: three base64url
// segments, of which the first is a JSON object. It does not verify the signature.
func looksLikeJWT(credential string) bool {
	header, rest, _ := strings.Cut(credential, ".")
	payload, signature, ok := strings.Cut(rest, ".")
	if !ok || header == "" || !isBase64URL(header) || !isBase64URL(payload) || !isBase64URL(signature) {
		return false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(header)
	return err == nil && json.Valid(decoded) && bytes.HasPrefix(bytes.TrimSpace(decoded), []byte("{"))
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

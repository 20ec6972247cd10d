package connecttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Subject is who signs in at the provider.
const Subject = "mara"

// NewSigner makes a key that ID tokens can be signed with.
func NewSigner() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// configuration is that of OpenID Connect Discovery.
func (p *Provider) configuration(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := p.published.Bytes()
	if err != nil {
		panic(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{
		{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "x": encode(point[1:33]), "y": encode(point[33:])},
	}})
}

// idToken says who has signed in: a reader of the workspace default, unless Claims say
// otherwise.
func (p *Provider) idToken(nonce string) string {
	claims := jwt.MapClaims{
		"iss": p.URL, "aud": ClientID, "sub": Subject, "name": "Mara", "nonce": nonce, "exp": time.Now().Add(time.Hour).Unix(),
		"scope": "api:read", "feedmill_workspace": "default",
	}
	for name, value := range p.Claims {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	text, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(p.Signer)
	if err != nil {
		panic(err)
	}
	return text
}

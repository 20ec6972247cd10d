package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

const testAudience = "feedmill-api"

// signer is a private key of an issuer and the public half as it publishes it.
type signer struct {
	kid     string
	method  jwt.SigningMethod
	private crypto.Signer
}

func newSigner(t testing.TB, method jwt.SigningMethod, kid string) signer {
	t.Helper()
	s := signer{kid: kid, method: method}
	var err error
	switch m := method.(type) {
	case *jwt.SigningMethodRSA, *jwt.SigningMethodRSAPSS:
		s.private, err = rsa.GenerateKey(rand.Reader, minRSABits)
	case *jwt.SigningMethodECDSA:
		curve := map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()}[m.Alg()]
		s.private, err = ecdsa.GenerateKey(curve, rand.Reader)
	case *jwt.SigningMethodEd25519:
		_, s.private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// jwk is the public half as a JSON Web Key.
func (s signer) jwk(t testing.TB) jwk {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	k := jwk{Kid: s.kid, Use: "sig", Alg: s.method.Alg()}
	switch public := s.private.Public().(type) {
	case *rsa.PublicKey:
		k.Kty, k.N, k.E = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		half := (len(point) - 1) / 2
		k.Kty, k.Crv, k.X, k.Y = "EC", public.Params().Name, encode(point[1:1+half]), encode(point[1+half:])
	case ed25519.PublicKey:
		k.Kty, k.Crv, k.X = "OKP", "Ed25519", encode(public)
	}
	return k
}

// sign makes the Authorization header of a token with the claims.
func (s signer) sign(t testing.TB, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(s.method, claims)
	if s.kid != "" {
		token.Header["kid"] = s.kid
	}
	return signed(t, token, s.private)
}

func signed(t testing.TB, token *jwt.Token, key any) string {
	t.Helper()
	raw, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return "Bearer " + raw
}

// fakeIssuer is an OIDC issuer: discovery and a key set.
type fakeIssuer struct {
	url string

	mu            sync.Mutex
	configuration map[string]string
	keys          []jwk
	down          bool
	fetches       int // of the key set
}

func (is *fakeIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if is.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(is.configuration)
	case "/keys":
		is.fetches++
		json.NewEncoder(w).Encode(map[string]any{"keys": is.keys})
	default:
		http.NotFound(w, r)
	}
}

// RoundTrip responds without a network, for tests with a clock of their own.
func (is *fakeIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	is.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

func (is *fakeIssuer) publish(t testing.TB, signers ...signer) {
	t.Helper()
	is.mu.Lock()
	defer is.mu.Unlock()
	is.keys = nil
	for _, s := range signers {
		is.keys = append(is.keys, s.jwk(t))
	}
}

func (is *fakeIssuer) setDown(down bool) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.down = down
}

func (is *fakeIssuer) fetched() int {
	is.mu.Lock()
	defer is.mu.Unlock()
	return is.fetches
}

func (is *fakeIssuer) setURL(url string) {
	is.url = url
	is.configuration = map[string]string{"issuer": url, "jwks_uri": url + "/keys"}
}

// claims are those of a good token of a reader in the workspace other, with
// the changes; a nil value removes a claim.
func (is *fakeIssuer) claims(changes map[string]any) jwt.MapClaims {
	claims := jwt.MapClaims{
		"iss":          is.url,
		"sub":          "user-1",
		"aud":          testAudience,
		"exp":          time.Now().Add(time.Hour).Unix(),
		"iat":          time.Now().Unix(),
		scopeClaim:     "openid api:read",
		workspaceClaim: "other",
	}
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	return claims
}

// onLoopback starts an issuer on a real socket, and what trusts it.
func onLoopback(t testing.TB, store Store, signers ...signer) (*Authenticator, *fakeIssuer) {
	t.Helper()
	is := new(fakeIssuer)
	server := httptest.NewServer(is)
	t.Cleanup(server.Close)
	is.setURL(server.URL)
	is.publish(t, signers...)
	return newAuthenticator(t, store, Options{OIDCIssuer: is.url, OIDCAudience: testAudience, HTTPClient: server.Client()}), is
}

// inBubble makes an issuer without a socket, and what trusts it.
func inBubble(t testing.TB, store Store, signers ...signer) (*Authenticator, *fakeIssuer) {
	t.Helper()
	is := new(fakeIssuer)
	is.setURL("https://issuer.example")
	is.publish(t, signers...)
	return newAuthenticator(t, store, Options{OIDCIssuer: is.url, OIDCAudience: testAudience, HTTPClient: &http.Client{Transport: is}}), is
}

func TestAnIssuerNeedsAnAudienceAndAClient(t *testing.T) {
	for name, o := range map[string]Options{
		"no audience": {OIDCIssuer: "https://issuer.example", HTTPClient: new(http.Client)},
		"no client":   {OIDCIssuer: "https://issuer.example", OIDCAudience: testAudience},
	} {
		if _, err := New(newStore(), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// The service starts and serves its API keys while the issuer is away.
func TestAPIKeysDoNotNeedTheIssuer(t *testing.T) {
	store := newStore()
	a, is := onLoopback(t, store)
	is.setDown(true)
	store.add("fm_key", "other", feedmill.ScopeRead)
	wantPrincipal(t, a, "Bearer fm_key")
}

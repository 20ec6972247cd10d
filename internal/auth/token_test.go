package auth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

func TestTokens(t *testing.T) {
	store := newStore()
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	a, is := onLoopback(t, store, s)
	read := []feedmill.Scope{feedmill.ScopeRead}
	for _, tc := range []struct {
		name      string
		changes   map[string]any
		workspace string
		scopes    []feedmill.Scope
		all       bool
	}{
		{"as it is", nil, "other", read, false},
		{"workspace by id", map[string]any{workspaceClaim: store.workspace("other")}, "other", read, false},
		{"scopes in an array", map[string]any{scopeClaim: []string{"admin", "x", "api:read"}}, "other", []feedmill.Scope{feedmill.ScopeRead, feedmill.ScopeAdmin}, false},
		{"scopes twice and unknown", map[string]any{scopeClaim: "api:read  root api:read API:WRITE"}, "other", read, false},
		{"no scope", map[string]any{scopeClaim: nil}, "other", nil, false},
		{"scope of another type", map[string]any{scopeClaim: 7}, "other", nil, false},
		{"scope in capitals", map[string]any{scopeClaim: nil, "SCOPE": "admin"}, "other", nil, false},
		{"admin of default", map[string]any{scopeClaim: "admin", workspaceClaim: "default"}, "default", []feedmill.Scope{feedmill.ScopeAdmin}, true},
		{"admin of another", map[string]any{scopeClaim: "admin"}, "other", []feedmill.Scope{feedmill.ScopeAdmin}, false},
		{"reader of default", map[string]any{workspaceClaim: "default"}, "default", read, false},
		{"several audiences", map[string]any{"aud": []string{"else", testAudience}}, "other", read, false},
		{"a clock a little ahead", map[string]any{"nbf": time.Now().Add(notBeforeLeeway / 2).Unix()}, "other", read, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			authorization := s.sign(t, is.claims(tc.changes))
			want := feedmill.Principal{Workspace: store.workspace(tc.workspace), Subject: is.url + "|user-1", Name: "user-1", Scopes: tc.scopes, AllWorkspaces: tc.all}
			for _, from := range []string{"the issuer", "memory"} {
				if diff := cmp.Diff(want, wantPrincipal(t, a, authorization)); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", from, diff)
				}
			}
		})
	}
	if n := is.fetched(); n != 1 {
		t.Errorf("the keys were fetched %d times, want 1", n)
	}
}

func TestTokenAlgorithms(t *testing.T) {
	for _, method := range []jwt.SigningMethod{
		jwt.SigningMethodRS256, jwt.SigningMethodRS384, jwt.SigningMethodRS512,
		jwt.SigningMethodPS256, jwt.SigningMethodPS384, jwt.SigningMethodPS512,
		jwt.SigningMethodES256, jwt.SigningMethodES384, jwt.SigningMethodES512, jwt.SigningMethodEdDSA,
	} {
		t.Run(method.Alg(), func(t *testing.T) {
			s := newSigner(t, method, "k1")
			a, is := onLoopback(t, newStore(), s)
			wantPrincipal(t, a, s.sign(t, is.claims(nil)))
		})
	}
}

func TestRefusedClaims(t *testing.T) {
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	a, is := onLoopback(t, newStore(), s)
	for _, tc := range []struct {
		name    string
		changes map[string]any
		want    string
	}{
		{"expired", map[string]any{"exp": time.Now().Add(-time.Second).Unix()}, "expired"},
		{"no expiry", map[string]any{"exp": nil}, "exp claim"},
		{"expiry not a time", map[string]any{"exp": "tomorrow"}, "exp claim"},
		{"not yet valid", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}, "nbf claim"},
		{"start not a time", map[string]any{"nbf": "now"}, "nbf claim"},
		{"for another service", map[string]any{"aud": "else"}, "aud claim"},
		{"for nobody", map[string]any{"aud": nil}, "aud claim"},
		{"of another issuer", map[string]any{"iss": "https://else.example"}, "iss claim"},
		{"of no issuer", map[string]any{"iss": nil}, "iss claim"},
		{"of nobody", map[string]any{"sub": nil}, "sub claim"},
		{"no workspace", map[string]any{workspaceClaim: nil}, workspaceClaim},
		{"workspace of another type", map[string]any{workspaceClaim: []string{"other"}}, workspaceClaim},
		{"unknown workspace", map[string]any{workspaceClaim: "nowhere"}, workspaceClaim},
		{"unknown workspace id", map[string]any{workspaceClaim: feedmill.NewID(feedmill.PrefixWorkspace)}, workspaceClaim},
	} {
		t.Run(tc.name, func(t *testing.T) {
			token := s.sign(t, is.claims(tc.changes))
			wantRefused(t, a, token, tc.want)
			if _, err := a.Authenticate(t.Context(), token); strings.Contains(err.Error(), is.url) {
				t.Errorf("the refusal names the issuer: %v", err)
			}
		})
	}
}

func TestForgedTokens(t *testing.T) {
	good := newSigner(t, jwt.SigningMethodRS256, "k1")
	public := good.private.Public().(*rsa.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})

	type forgery func(*testing.T, jwt.MapClaims) string
	by := func(method jwt.SigningMethod, kid string) forgery {
		return func(t *testing.T, claims jwt.MapClaims) string { return newSigner(t, method, kid).sign(t, claims) }
	}
	with := func(method jwt.SigningMethod, key any, header string, value any) forgery {
		return func(t *testing.T, claims jwt.MapClaims) string {
			token := jwt.NewWithClaims(method, claims)
			token.Header["kid"] = "k1"
			token.Header[header] = value
			return signed(t, token, key)
		}
	}
	raw := func(header, payload string) forgery {
		return func(*testing.T, jwt.MapClaims) string {
			encode := base64.RawURLEncoding.EncodeToString
			return "Bearer " + encode([]byte(header)) + "." + encode([]byte(payload)) + ".AAAA"
		}
	}
	for _, tc := range []struct {
		name  string
		forge forgery
		want  string
	}{
		{"alg none", with(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "typ", "JWT"), "signature algorithm must be"},
		{"HMAC with the public key in PEM", with(jwt.SigningMethodHS256, publicPEM, "typ", "JWT"), "signature algorithm must be"},
		{"HMAC with the public key in DER", with(jwt.SigningMethodHS256, der, "typ", "JWT"), "signature algorithm must be"},
		{"HMAC with the modulus", with(jwt.SigningMethodHS256, public.N.Bytes(), "typ", "JWT"), "signature algorithm must be"},
		{"critical parameters", with(good.method, good.private, "crit", []string{"exp"}), "signature algorithm must be"},
		{"an algorithm that the key is not for", with(jwt.SigningMethodRS512, good.private, "typ", "JWT"), "does not match the keys"},
		{"another key under the same kid", by(jwt.SigningMethodRS256, "k1"), "does not match the keys"},
		{"another key under an unknown kid", by(jwt.SigningMethodRS256, "k9"), "does not match the keys"},
		{"another key without kid", by(jwt.SigningMethodRS256, ""), "does not match the keys"},
		{"the kid of a key of another type", by(jwt.SigningMethodES256, "k1"), "does not match the keys"},
		{"other claims than were signed", func(t *testing.T, claims jwt.MapClaims) string {
			parts := strings.Split(good.sign(t, claims), ".")
			claims[scopeClaim] = "admin"
			parts[1] = strings.Split(good.sign(t, claims), ".")[1]
			return strings.Join(parts, ".")
		}, "does not match the keys"},
		{"no JSON in the payload", raw(`{"alg":"RS256"}`, `x`), "not a valid JWT"},
		{"a payload that is no object", raw(`{"alg":"RS256"}`, `[]`), "not a valid JWT"},
		{"a payload of null", raw(`{"alg":"RS256"}`, `null`), "iss claim"},
		{"no alg", raw(`{}`, `{}`), "signature algorithm must be"},
		{"an alg that is no text", raw(`{"alg":["RS256"]}`, `{}`), "signature algorithm must be"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, is := inBubble(t, newStore(), good)
				wantPrincipal(t, a, good.sign(t, is.claims(nil)))
				wantRefused(t, a, tc.forge(t, is.claims(nil)), tc.want)
			})
		})
	}
}

func TestAFailureOfTheStoreIsNotARefusalOfAToken(t *testing.T) {
	store := newStore()
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	a, is := onLoopback(t, store, s)
	down := errors.New("database is away")
	store.fail(down)
	_, err := a.Authenticate(t.Context(), s.sign(t, is.claims(nil)))
	if !errors.Is(err, down) || errors.Is(err, feedmill.ErrUnauthenticated) {
		t.Errorf("Authenticate = %v, want the store's error", err)
	}
}

func TestATokenWithoutKidIsTriedWithEveryKey(t *testing.T) {
	first, second := newSigner(t, jwt.SigningMethodES256, "k1"), newSigner(t, jwt.SigningMethodES256, "k2")
	a, is := onLoopback(t, newStore(), first, second)
	second.kid = ""
	wantPrincipal(t, a, second.sign(t, is.claims(nil)))
}

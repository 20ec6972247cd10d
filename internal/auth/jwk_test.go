package auth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// The keys are those of RFC 7517, appendix A.1, and RFC 8037, appendix A.2.
const rfcKeys = `{"keys":[
	{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"enc","kid":"1"},
	{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"},
	{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
]}`

func TestPublishedKeys(t *testing.T) {
	keys, err := parseKeys([]byte(rfcKeys))
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 2 {
		t.Fatalf("%d keys, want the two that are not for encryption", len(keys))
	}
	for _, tc := range []struct {
		key      int
		alg, kid string
		want     bool
	}{
		{0, "RS256", "2011-04-29", true},
		{0, "RS256", "", true},
		{0, "RS256", "else", false},
		{0, "RS512", "2011-04-29", false},
		{0, "ES256", "2011-04-29", false},
		{1, "EdDSA", "", true},
		{1, "EdDSA", "kid", false},
		{1, "ES256", "", false},
	} {
		if got := keys[tc.key].canVerify(tc.alg, tc.kid); got != tc.want {
			t.Errorf("key %d fits %s %q: %v, want %v", tc.key, tc.alg, tc.kid, got, tc.want)
		}
	}
}

func TestAKeyFitsTheAlgorithmOfItsCurve(t *testing.T) {
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodES256, jwt.SigningMethodES384, jwt.SigningMethodES512} {
		key := newSigner(t, method, "k1")
		published := publicKey{public: key.private.Public()}
		for _, alg := range algorithms {
			if got, want := published.canVerify(alg, ""), alg == method.Alg(); got != want {
				t.Errorf("a key for %s fits %s: %v", method.Alg(), alg, got)
			}
		}
	}
}

func TestKeysThatCannotBeUsedArePassedOver(t *testing.T) {
	good := newSigner(t, jwt.SigningMethodES256, "good").jwk(t)
	other := newSigner(t, jwt.SigningMethodES384, "other").jwk(t)
	rsa := newSigner(t, jwt.SigningMethodRS256, "rsa").jwk(t)
	change := func(k jwk, f func(*jwk)) jwk { f(&k); return k }
	for name, bad := range map[string]any{
		"unknown type":           jwk{Kty: "X"},
		"a secret":               map[string]string{"kty": "oct", "k": "c2VjcmV0"},
		"not an object":          "key",
		"for encryption":         change(good, func(k *jwk) { k.Use = "enc" }),
		"unknown curve":          change(good, func(k *jwk) { k.Crv = "secp256k1" }),
		"another curve":          change(good, func(k *jwk) { k.Crv = "P-384" }),
		"a point off the curve":  change(good, func(k *jwk) { k.X, k.Y = k.Y, k.X }),
		"half a point":           change(good, func(k *jwk) { k.Y = "" }),
		"not in base64url":       change(good, func(k *jwk) { k.X = "#" + k.X[1:] }),
		"a short Edwards key":    jwk{Kty: "OKP", Crv: "Ed25519", X: "AAAA"},
		"another Edwards curve":  jwk{Kty: "OKP", Crv: "Ed448", X: good.X},
		"a small RSA key":        change(rsa, func(k *jwk) { k.N = k.N[:len(k.N)/2] }),
		"a giant RSA key":        change(rsa, func(k *jwk) { k.N = strings.Repeat(k.N, 8) }),
		"an RSA exponent of one": change(rsa, func(k *jwk) { k.E = "AQ" }),
		"an even RSA exponent":   change(rsa, func(k *jwk) { k.E = "BA" }),
		"a giant RSA exponent":   change(rsa, func(k *jwk) { k.E = "AQAAAAAB" }),
		"no RSA exponent":        change(rsa, func(k *jwk) { k.E = "" }),
	} {
		t.Run(name, func(t *testing.T) {
			document, err := json.Marshal(map[string]any{"keys": []any{bad, other}})
			if err != nil {
				t.Fatal(err)
			}
			keys, err := parseKeys(document)
			if err != nil || len(keys) != 1 || keys[0].kid != "other" {
				t.Errorf("parseKeys = %v, %v; want the good key alone", keys, err)
			}
		})
	}
}

func TestNoKeys(t *testing.T) {
	for _, document := range []string{``, `[]`, `{}`, `{"keys":[]}`, `{"keys":{}}`, `{"keys":[{"kty":"X"}]}`} {
		if keys, err := parseKeys([]byte(document)); err == nil {
			t.Errorf("parseKeys(%s) = %v, want an error", document, keys)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte(rfcKeys))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := parseKeys(document)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys and %v", len(keys), err)
		}
		for _, key := range keys {
			for _, alg := range []string{"none", "HS256", ""} {
				if key.canVerify(alg, key.kid) {
					t.Errorf("a public key fits %q", alg)
				}
			}
		}
	})
}

package fetch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A source that takes each refresh token once is asked with the newest, and that is
// kept before the data is asked for.
func TestRefreshTokensRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		valid, access := 1, 0
		l.serve("id.test", func(w http.ResponseWriter, r *http.Request) {
			if user, pass, _ := r.BasicAuth(); user != "app" || pass != "s3cret" || r.FormValue("grant_type") != "refresh_token" {
				w.WriteHeader(401)
				respond(w, `{"error":"invalid_client"}`)
				return
			}
			if r.FormValue("refresh_token") != fmt.Sprint("refresh-", valid) {
				w.WriteHeader(400)
				respond(w, `{"error":"invalid_grant","error_description":"It was used before."}`)
				return
			}
			valid++
			access++
			respond(w, fmt.Sprintf(`{"access_token":"access-%d","expires_in":10,"refresh_token":"refresh-%d"}`, access, valid))
		})
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != fmt.Sprint("Bearer access-", access) {
				w.WriteHeader(401)
				return
			}
			rows(w, r)
		})
		const definition = `{"request":{"url":"https://api.test/rows"},
			"auth":{"kind":"oauth2RefreshToken","tokenUrl":"https://id.test/token","clientId":"app","clientSecret":"s3cret","refreshToken":"refresh-1"}}`
		d, err := spec.Parse([]byte(definition), 0)
		if err != nil {
			t.Fatal(err)
		}
		secrets := d.Secrets()
		fetch := func() error {
			job := l.job(definition)
			if job.Spec, err = spec.Restore(d.SourceSpec(), secrets, feedmill.RulesCurrent); err != nil {
				t.Fatal(err)
			}
			job.Secrets, job.KeepSecrets = secrets, func(_ context.Context, kept []byte) error { secrets = kept; return nil }
			_, err := l.fetcher.Fetch(t.Context(), job, new(pages))
			return err
		}
		for want := 2; want < 5; want++ {
			if err := fetch(); err != nil || !strings.Contains(string(secrets), fmt.Sprintf(`"refresh-%d"`, want)) {
				t.Fatalf("%v %s", err, secrets)
			}
			time.Sleep(time.Minute)
		}
		// Who has only the first token, as after a preview, goes on with the newest.
		secrets = d.Secrets()
		if err := fetch(); err != nil {
			t.Error(err)
		}
		l.fetcher = NewFetcher(l.fetcher.Options)
		secrets = d.Secrets()
		if err := fetch(); FailureOf(err) != "source-auth" || !strings.Contains(err.Error(), "invalid_grant: It was used before, to the token request") {
			t.Error(err)
		}
		if shown := l.trace(); strings.Contains(shown, "refresh-") || strings.Contains(shown, "access-") {
			t.Error(shown)
		}
	})
}

func TestServiceAccount(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curved, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// A key that came as one line is the same key.
	oneLine := strings.NewReplacer("\n", " ")
	for name, key := range map[string]any{"RS256": small, "ES256": curved} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			der, err := x509.MarshalPKCS8PrivateKey(key)
			if err != nil {
				t.Fatal(err)
			}
			lines := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
			if name == "ES256" {
				lines = oneLine.Replace(lines)
			}
			text, _ := json.Marshal(lines)
			escaped, _ := json.Marshal(strings.ReplaceAll(lines, "\n", `\n`))
			if _, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"auth":{"kind":"jwtBearer","tokenUrl":"https://id.test/token","issuer":"i","privateKey":`+string(escaped)+`}}`), 0); err != nil {
				t.Error(err)
			}
			l.serve("id.test", func(w http.ResponseWriter, r *http.Request) {
				parts := strings.Split(r.FormValue("assertion"), ".")
				if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 || !signedBy(key, parts) {
					w.WriteHeader(400)
					return
				}
				head, _ := base64.RawURLEncoding.DecodeString(parts[0])
				claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
				if want := fmt.Sprintf(`{"alg":%q,"kid":"k1","typ":"JWT"}`, name); string(head) != want {
					t.Errorf("%s, want %s", head, want)
				}
				if want := regexp.MustCompile(`^{"aud":"https://id.test/token","exp":946684980,"iat":946684770,"iss":"robot@test","jti":"\w{26}","scope":"read"}$`); !want.Match(claims) {
					t.Errorf("%s, want %s", claims, want)
				}
				respond(w, `{"access_token":"t0ken","expires_in":3600}`)
			})
			l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer t0ken" {
					w.WriteHeader(401)
					return
				}
				rows(w, r)
			})
			_, _, err = l.fetch(`{"request":{"url":"https://api.test/rows"},"auth":{"kind":"jwtBearer","tokenUrl":"https://id.test/token","privateKey":` + string(text) + `,"keyId":"k1","issuer":"robot@test","scope":"read"}}`)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func signedBy(key any, parts []string) bool {
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return rsa.VerifyPKCS1v15(&key.PublicKey, 5, hash[:], signature) == nil
	case *ecdsa.PrivateKey:
		return len(signature) == 64 && ecdsa.Verify(&key.PublicKey, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
	return false
}

// The example of Amazon's documentation: listing the users of IAM.
func TestSignatureV4(t *testing.T) {
	request, err := http.NewRequest("GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	a := awsSigner{AWSKey: &spec.AWSKey{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "iam"}}
	a.signAt(request, time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC))
	got := request.Header.Get("Authorization")
	if !strings.HasPrefix(got, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=") {
		t.Error(got)
	}
	if request.Header.Get("X-Amz-Date") != "20150830T123600Z" || request.Header.Get("X-Amz-Content-Sha256") != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(request.Header)
	}
}

// A blank is sent as it is signed.
func TestSignatureV4Blanks(t *testing.T) {
	request, err := http.NewRequest("GET", "https://a.test/?b=x+y&a=%2B", nil)
	if err != nil {
		t.Fatal(err)
	}
	awsSigner{AWSKey: new(spec.AWSKey)}.signAt(request, time.Now())
	if request.URL.RawQuery != "b=x%20y&a=%2B" {
		t.Error(request.URL)
	}
}

func TestLoginByHeaderOrCookie(t *testing.T) {
	for _, test := range []struct{ where, header, value string }{
		{`"tokenHeader":"X-Subject-Token","header":"X-Auth-Token"`, "X-Auth-Token", "t0ken"},
		{`"tokenCookie":"sid"`, "Cookie", "sid=t0ken"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("id.test", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Subject-Token", "t0ken")
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "t0ken"})
				w.WriteHeader(204)
			})
			l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get(test.header) != test.value {
					w.WriteHeader(401)
					return
				}
				rows(w, r)
			})
			if _, _, err := l.fetch(`{"request":{"url":"https://api.test/rows"},"auth":{"kind":"login","request":{"url":"https://id.test/in"},` + test.where + `}}`); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := spec.Parse([]byte(`{"request":{"url":"https://api.test/"},"auth":{"kind":"login","request":{"url":"https://id.test/"}}}`), 0); err == nil || len(err.(*feedmill.Error).Faults) != 1 {
		t.Error(err)
	}
}

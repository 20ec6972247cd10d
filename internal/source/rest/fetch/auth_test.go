package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// theSecret is every secret of these tests; it has what is encoded in URLs.
const theSecret = `s3cr/et+"&x`

const theSecretJSON = `s3cr/et+\"&x`

func TestAuth(t *testing.T) {
	for _, test := range []struct {
		name, auth, more string
		good             func(r *http.Request) bool
		trace            []string
	}{
		{
			name: "none", auth: `{"kind":"none"}`,
			good:  func(r *http.Request) bool { return r.Header.Get("Authorization") == "" },
			trace: []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "basic", auth: `{"kind":"basic","username":"me","password":"` + theSecretJSON + `"}`,
			good: func(r *http.Request) bool {
				user, password, _ := r.BasicAuth()
				return user == "me" && password == theSecret
			},
			trace: []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "bearer", auth: `{"kind":"bearer","token":"` + theSecretJSON + `"}`,
			good:  func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+theSecret },
			trace: []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "apiKey in header", auth: `{"kind":"apiKey","name":"X-Pass","value":"` + theSecretJSON + `"}`,
			good:  func(r *http.Request) bool { return r.Header.Get("X-Pass") == theSecret },
			trace: []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "apiKey in query", auth: `{"kind":"apiKey","in":"query","name":"appid","value":"` + theSecretJSON + `"}`,
			good:  func(r *http.Request) bool { return r.URL.Query().Get("appid") == theSecret },
			trace: []string{"GET https://api.test/rows?appid=*** 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "apiKey in cookie", auth: `{"kind":"apiKey","in":"cookie","name":"sid","value":"s3cret-cookie"}`, more: `"headers":{"Cookie":"theme=dark"}`,
			good: func(r *http.Request) bool {
				sid, _ := r.Cookie("sid")
				theme, _ := r.Cookie("theme")
				return sid != nil && sid.Value == "s3cret-cookie" && theme != nil
			},
			trace: []string{"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "headers and query that look secret", auth: `{"kind":"none"}`, more: `"headers":{"X-Api-Key":"` + theSecretJSON + `"},"query":{"access_token":"` + theSecretJSON + `","q":["a","b"]}`,
			good: func(r *http.Request) bool {
				return r.Header.Get("X-Api-Key") == theSecret && r.URL.Query().Get("access_token") == theSecret && len(r.URL.Query()["q"]) == 2
			},
			trace: []string{"GET https://api.test/rows?access_token=***&q=a&q=b 200 page=1 try=1 rows=1 bytes=10"},
		},
		{
			name: "oauth2ClientCredentials", auth: `{"kind":"oauth2ClientCredentials","tokenUrl":"https://id.test/token","clientId":"me","clientSecret":"` + theSecretJSON + `","scope":"a b"}`,
			good: func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer t0ken-1" },
			trace: []string{
				"POST https://id.test/token 200 page=0 try=1 rows=0 bytes=43",
				"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10",
			},
		},
		{
			name: "login", auth: `{"kind":"login","request":{"url":"https://id.test/login?api_key=` + "k3y-k3y" + `","body":{"kind":"json","value":{"user":"me","pass":"` + theSecretJSON + `"}}},"tokenPath":"$.session.id","header":"X-Session","prefix":"S="}`,
			good: func(r *http.Request) bool { return r.Header.Get("X-Session") == "S=t0ken-1" },
			trace: []string{
				"POST https://id.test/login?api_key=*** 200 page=0 try=1 rows=0 bytes=28",
				"GET https://api.test/rows 200 page=1 try=1 rows=1 bytes=10",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				var tokens atomic.Int64
				l.serve("id.test", identityServer(t, &tokens))
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					if !test.good(r) {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					respond(w, `[{"id":1}]`)
				})
				more := ""
				if test.more != "" {
					more = "," + test.more
				}
				definition := `{"request":{"url":"https://api.test/rows"` + more + `},"auth":` + test.auth + `}`
				if _, _, err := l.fetch(definition); err != nil {
					t.Fatal(err)
				}
				l.wantTrace(test.trace...)

				// What is seen of the definition has no secret.
				d, err := spec.Parse([]byte(definition), 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range []string{string(d.Public()), string(d.SourceSpec())} {
					for _, secret := range []string{"s3cr", "k3y"} {
						if strings.Contains(text, secret) {
							t.Errorf("a secret is in %s", text)
						}
					}
				}
			})
		})
	}
}

// identityServer gives tokens t0ken-1, t0ken-2 and so on.
func identityServer(t *testing.T, tokens *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/token":
			user, password, _ := r.BasicAuth()
			if user != "me" || password != "s3cr%2Fet%2B%22%26x" || string(body) != "grant_type=client_credentials&scope=a+b" {
				t.Errorf("token asked with %s %s %s", user, password, body)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			respond(w, fmt.Sprintf(`{"access_token":"t0ken-%d","expires_in":100}`, tokens.Add(1)))
		case "/login":
			if string(body) != `{"user":"me","pass":"`+theSecretJSON+`"}` {
				t.Errorf("login with %s", body)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			respond(w, fmt.Sprintf(`{"session":{"id":"t0ken-%d"}}`, tokens.Add(1)))
		}
	}
}

const oauthDefinition = `{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"page"},
	"auth":{"kind":"oauth2ClientCredentials","tokenUrl":"https://id.test/token","clientId":"me","clientSecret":"` + theSecretJSON + `","scope":"a b"}}`

const loginDefinition = `{"request":{"url":"https://api.test/rows"},"pagination":{"kind":"page"},
	"auth":{"kind":"login","request":{"url":"https://id.test/login","body":{"kind":"json","value":{"user":"me","pass":"` + theSecretJSON + `"}}},"tokenPath":"$.session.id"}}`

// A token that expires between pages is got anew, once, and the fetch goes on.
func TestTokenExpiresBetweenPages(t *testing.T) {
	for _, test := range []struct{ name, definition, path, bytes string }{
		{"oauth2ClientCredentials", oauthDefinition, "token", "43"}, {"login", loginDefinition, "login", "28"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				var tokens atomic.Int64
				l.serve("id.test", identityServer(t, &tokens))
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					want := "Bearer t0ken-1"
					page := r.URL.Query().Get("page")
					if page != "1" {
						want = "Bearer t0ken-2"
					}
					switch {
					case r.Header.Get("Authorization") != want:
						w.WriteHeader(http.StatusUnauthorized)
					case page == "3":
						respond(w, "[]")
					default:
						respond(w, `[{"id":`+page+`}]`)
					}
				})
				if _, _, err := l.fetch(test.definition); err != nil {
					t.Fatal(err)
				}
				l.wantTrace(
					"POST https://id.test/"+test.path+" 200 page=0 try=1 rows=0 bytes="+test.bytes,
					"GET https://api.test/rows?page=1 200 page=1 try=1 rows=1 bytes=10",
					"GET https://api.test/rows?page=2 401 page=2 try=1 rows=0 bytes=0 The source returned 401 Unauthorized. Set a valid credential.",
					"POST https://id.test/"+test.path+" 200 page=0 try=1 rows=0 bytes="+test.bytes,
					"GET https://api.test/rows?page=2 200 page=2 try=2 rows=1 bytes=10",
					"GET https://api.test/rows?page=3 200 page=3 try=1 rows=0 bytes=2",
				)
			})
		})
	}
}

func TestTokenIsSharedAndRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var tokens atomic.Int64
		l.serve("id.test", identityServer(t, &tokens))
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, "[]") })
		var wg sync.WaitGroup
		for range 10 {
			job := l.job(oauthDefinition)
			spool, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer spool.Close()
			job.Spool = spool
			wg.Go(func() {
				if _, err := l.fetcher.Fetch(t.Context(), job, new(pages)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{0, 1}, {89 * time.Second, 1}, {2 * time.Second, 2}} {
			time.Sleep(step.after)
			if _, _, err := l.fetch(oauthDefinition); err != nil {
				t.Fatal(err)
			}
			if got := tokens.Load(); got != step.want {
				t.Errorf("after %s: %d tokens were asked for, want %d", step.after, got, step.want)
			}
		}
	})
}

// A token that is good for few requests is used up by those made at the same time. That is
// no credential that was refused.
func TestTokensOfAFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var mu sync.Mutex
		issued, left := 0, 0
		var turned atomic.Int64
		l.serve("id.test", func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			issued, left = issued+1, 2
			respond(w, fmt.Sprintf(`{"access_token":"t0ken-%d"}`, issued))
		})
		l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // so that all that ask at the same time are there
			mu.Lock()
			defer mu.Unlock()
			if r.Header.Get("Authorization") != fmt.Sprint("Bearer t0ken-", issued) || left == 0 {
				turned.Add(1)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			left--
			respond(w, `[{"id":1}]`)
		})
		job := l.job(`{"request":{"url":"https://api.test/{{n}}"},"each":{"in":{"values":[1,2,3,4,5,6,7,8,9,10,11,12]},"as":"n"},
			"auth":{"kind":"oauth2ClientCredentials","tokenUrl":"https://id.test/token","clientId":"c","clientSecret":"s3cret"}}`)
		job.Stage, job.Fingerprint, job.Close = filepath.Join(t.TempDir(), "stage"), "one", new([]io.Closer)
		result, err := l.fetcher.Fetch(t.Context(), job, new(pages))
		for _, c := range *job.Close {
			_ = c.Close()
		}
		if err != nil || result.Records != 12 || turned.Load() == 0 {
			t.Errorf("%d records, %d refused, %v\n%s", result.Records, turned.Load(), err, l.trace())
		}
	})
}

func TestClientSecretInBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.serve("id.test", func(w http.ResponseWriter, r *http.Request) {
			if r.PostFormValue("client_secret") != theSecret {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			respond(w, `{"access_token":"t0ken"}`)
		})
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, "[]") })
		if _, _, err := l.fetch(oauthDefinition); err != nil {
			t.Fatal(err)
		}
	})
}

// A limit that the source of tokens sets for a while refuses no credential.
func TestTokenLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		asked := 0
		l.serve("id.test", func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked == 1 {
				w.Header().Set("Retry-After", "2")
				w.WriteHeader(http.StatusForbidden)
				return
			}
			respond(w, `{"access_token":"t0ken"}`)
		})
		l.serve("api.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, "[]") })
		if _, _, err := l.fetch(oauthDefinition); err != nil || asked != 2 {
			t.Errorf("%d requests for a token, %v", asked, err)
		}
	})
}

func TestCredentialRefused(t *testing.T) {
	for _, test := range []struct {
		name, definition string
		api, id          int
		requests         int64
	}{
		{"401", `{"request":{"url":"https://api.test/rows"},"auth":{"kind":"bearer","token":"s3cret"}}`, 401, 200, 1},
		{"403", `{"request":{"url":"https://api.test/rows"}}`, 403, 200, 1},
		{"401 after a new token", oauthDefinition, 401, 200, 4},
		{"403 with a token", oauthDefinition, 403, 200, 2},
		{"the client is refused", oauthDefinition, 200, 401, 2},
		{"the login is refused", loginDefinition, 200, 403, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				answer := func(status int) http.HandlerFunc {
					return func(w http.ResponseWriter, _ *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(status)
						_, _ = io.WriteString(w, `{"access_token":"t0ken","session":{"id":"t0ken"}}`)
					}
				}
				l.serve("api.test", answer(test.api))
				l.serve("id.test", answer(test.id))
				_, result, err := l.fetch(test.definition)
				failure, _ := errors.AsType[*feedmill.SourceFailure](err)
				if refused := failure != nil && (failure.AuthRequired || failure.Forbidden && test.api == 403); !refused || FailureOf(err) != "source-auth" || result.Requests != test.requests {
					t.Errorf("%d requests, %v\n%s", result.Requests, err, l.trace())
				}
			})
		})
	}
}

// An answer without a token says why in the words of the source where it has any, and is
// not shown: what was asked for may be in it, at another place.
func TestNoTokenInTheAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		`{"error":"bad_refresh_token","error_description":"It has expired."}`: "with bad_refresh_token: It has expired,",
		`{"data":{"token":"t0ken-at-another-place"}}`:                         "no token at $.access_token",
		`{"access_token":null,"error":null}`:                                  "no token at $.access_token",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			l.serve("id.test", func(w http.ResponseWriter, _ *http.Request) { respond(w, answer) })
			_, _, err := l.fetch(oauthDefinition)
			failure, _ := errors.AsType[*feedmill.SourceFailure](err)
			if failure == nil || !strings.Contains(failure.Detail, want) || failure.AuthRequired != strings.Contains(want, "with") {
				t.Fatalf("%+v", failure)
			}
			if said := failure.Said; said == nil || said.Status != 200 || strings.Contains(said.Excerpt, "t0ken") {
				t.Errorf("%+v", said)
			}
		})
	}
}

// The credential stays within the origin of the source, wherever it is sent on.
func TestCredentialStaysHome(t *testing.T) {
	for _, auth := range []string{
		`{"kind":"bearer","token":"s3cret"}`, `{"kind":"basic","username":"me","password":"s3cret"}`,
		`{"kind":"apiKey","name":"X-Pass","value":"s3cret"}`, `{"kind":"apiKey","in":"query","name":"pass","value":"s3cret"}`,
		`{"kind":"apiKey","in":"cookie","name":"sid","value":"s3cret"}`,
	} {
		for _, way := range []string{"redirect", "next"} {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.serve("api.test", func(w http.ResponseWriter, r *http.Request) {
					switch {
					case way == "next":
						w.Header().Set("Link", `<https://other.test/2>; rel="next"`)
						respond(w, `[{"id":1}]`)
					case r.URL.Path == "/rows":
						http.Redirect(w, r, "/moved", http.StatusFound)
					default:
						if !carries(r) {
							t.Errorf("the credential is lost at home: %s %v", r.URL, r.Header)
						}
						http.Redirect(w, r, "https://other.test/2", http.StatusTemporaryRedirect)
					}
				})
				l.serve("other.test", func(w http.ResponseWriter, r *http.Request) {
					if carries(r) {
						t.Errorf("%s: the credential leaves: %s %v", way, r.URL, r.Header)
					}
					respond(w, `[{"id":2}]`)
				})
				_, _, err := l.fetch(`{"request":{"url":"https://api.test/rows","headers":{"X-Token":"s3cret"}},"pagination":{"kind":"linkHeader"},"auth":` + auth + `}`)
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

func carries(r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	return password == "s3cret" || strings.Contains(fmt.Sprint(r.URL, r.Header), "s3cret")
}

// A fetch that is ended while it waits for a token leaves it to the others.
func TestTokenWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all tokens
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := all.get(ctx, "k", func(ctx context.Context, _ *tokenSlot) (receivedToken, error) {
				close(begun)
				<-ctx.Done()
				return receivedToken{}, ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		<-begun
		wg.Go(func() {
			got, _, err := all.get(t.Context(), "k", func(context.Context, *tokenSlot) (receivedToken, error) {
				return receivedToken{text: "new"}, nil
			})
			if got != "new" || err != nil {
				t.Error(got, err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

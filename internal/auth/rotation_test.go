package auth

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/golang-jwt/jwt/v5"
)

func wantUnavailable(t *testing.T, a *Authenticator, authorization string) {
	t.Helper()
	_, err := a.Authenticate(t.Context(), authorization)
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || !errors.Is(err, feedmill.ErrUnavailable) || refusal.RetryAfter <= 0 || refusal.RetryAfter > fetchBackoff {
		t.Errorf("Authenticate = %v, want unavailable with a time to retry", err)
		return
	}
	wantNoSecret(t, err, authorization)
}

func TestRotatedKeysAreFetched(t *testing.T) {
	first, second := newSigner(t, jwt.SigningMethodRS256, "k1"), newSigner(t, jwt.SigningMethodES256, "k2")
	a, is := onLoopback(t, newStore(), first)
	wantPrincipal(t, a, first.sign(t, is.claims(nil)))
	is.publish(t, second)
	a.issuer.fetchedAt = time.Time{} // the last fetch was long ago
	wantPrincipal(t, a, second.sign(t, is.claims(nil)))
	if n := is.fetched(); n != 2 {
		t.Errorf("the keys were fetched %d times, want 2", n)
	}
}

func TestAKeyRotatedUnderItsOldKidIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newSigner(t, jwt.SigningMethodES256, "k1"), newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), first)
		wantPrincipal(t, a, first.sign(t, is.claims(nil)))
		is.publish(t, second)
		wantPrincipal(t, a, second.sign(t, is.claims(nil)))
	})
}

func TestAWithdrawnKeyIsNotTrustedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newSigner(t, jwt.SigningMethodES256, "k1"), newSigner(t, jwt.SigningMethodES256, "k2")
		a, is := inBubble(t, newStore(), first)
		authorization := first.sign(t, is.claims(nil))
		wantPrincipal(t, a, authorization)
		is.publish(t, second)
		time.Sleep(keysMaxAge - 1)
		wantPrincipal(t, a, authorization)
		time.Sleep(defaultCacheTTL)
		wantRefused(t, a, authorization, "does not match the keys")
	})
}

func TestOldKeysServeWhileTheIssuerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		authorization := s.sign(t, is.claims(map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()}))
		wantPrincipal(t, a, authorization)
		is.setDown(true)
		time.Sleep(2 * keysMaxAge)
		wantPrincipal(t, a, authorization)
		// An unknown key may be a new one, which cannot be checked now.
		wantUnavailable(t, a, newSigner(t, jwt.SigningMethodES256, "k2").sign(t, is.claims(nil)))
	})
}

func TestAnIssuerThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		authorization := s.sign(t, is.claims(nil))
		is.setDown(true)
		wantUnavailable(t, a, authorization)
		is.setDown(false)
		wantUnavailable(t, a, authorization) // it is left in peace for a while
		time.Sleep(fetchBackoff)
		wantPrincipal(t, a, authorization)
	})
}

func TestAnIssuerThatCannotBeTrusted(t *testing.T) {
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	for name, spoil := range map[string]func(*fakeIssuer){
		"speaks for another issuer":  func(is *fakeIssuer) { is.configuration["issuer"] = "https://else.example" },
		"has a slash more":           func(is *fakeIssuer) { is.configuration["issuer"] += "/" },
		"names no keys":              func(is *fakeIssuer) { delete(is.configuration, "jwks_uri") },
		"has keys without https":     func(is *fakeIssuer) { is.configuration["jwks_uri"] = "http://issuer.example/keys" },
		"has keys in a file":         func(is *fakeIssuer) { is.configuration["jwks_uri"] = "file:///keys" },
		"has keys that are not here": func(is *fakeIssuer) { is.configuration["jwks_uri"] += "/nowhere" },
		"publishes no key":           func(is *fakeIssuer) { is.keys = nil },
		"answers without end":        func(is *fakeIssuer) { is.configuration["more"] = strings.Repeat("x", maxDocument) },
	} {
		t.Run(name, func(t *testing.T) {
			a, is := inBubble(t, newStore(), s)
			var log bytes.Buffer
			a.issuer.logger = slog.New(slog.NewTextHandler(&log, nil))
			spoil(is)
			authorization := s.sign(t, is.claims(nil))
			wantUnavailable(t, a, authorization)
			if !strings.Contains(log.String(), "reading the OIDC issuer's configuration failed") {
				t.Errorf("the log does not say why: %q", log.String())
			}
			wantNoSecret(t, errors.New(log.String()), authorization)
		})
	}
}

func TestMadeUpTokensAreNoLoadOnTheIssuer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		wantPrincipal(t, a, s.sign(t, is.claims(nil)))

		forger := newSigner(t, jwt.SigningMethodES256, "k2")
		forged := make([]string, 50)
		for i := range forged {
			forged[i] = forger.sign(t, is.claims(map[string]any{"jti": i}))
		}
		var wg sync.WaitGroup
		for _, authorization := range forged {
			wg.Go(func() { wantRefused(t, a, authorization, "does not match the keys") })
		}
		wg.Wait()
		if n := is.fetched(); n != 2 {
			t.Errorf("the keys were fetched %d times, want 2", n)
		}
		// A key that the issuer makes right after is found all the same.
		is.publish(t, s, forger)
		wantPrincipal(t, a, forged[0])
	})
}

func TestTokensForOthersDoNotReachTheIssuer(t *testing.T) {
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	a, is := onLoopback(t, newStore(), s)
	for _, changes := range []map[string]any{{"iss": "https://else.example"}, {"aud": "else"}, {"exp": 1}} {
		wantRefused(t, a, s.sign(t, is.claims(changes)), "token")
	}
	if n := is.fetched(); n != 0 {
		t.Errorf("the keys were fetched %d times, want none", n)
	}
}

func TestAWaitForTheIssuerCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		wantPrincipal(t, a, s.sign(t, is.claims(nil)))
		ctx, cancel := context.WithTimeout(t.Context(), fetchEvery/2)
		defer cancel()
		_, err := a.Authenticate(ctx, newSigner(t, jwt.SigningMethodES256, "k2").sign(t, is.claims(nil)))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Authenticate = %v, want the deadline", err)
		}
	})
}

// The keys are fetched for all callers, so a canceled first caller is not a failure of the
// issuer.
func TestACallerThatLeavesDoesNotStopTheFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		a.issuer.fetch(gone)
		if a.issuer.failed || is.fetched() != 1 {
			t.Errorf("failed %v after %d fetches", a.issuer.failed, is.fetched())
		}
	})
}

func TestATokenIsRememberedUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		authorization := s.sign(t, is.claims(map[string]any{"exp": time.Now().Add(2 * time.Second).Unix()}))
		wantPrincipal(t, a, authorization)
		is.setDown(true)
		time.Sleep(2*time.Second - 1)
		wantPrincipal(t, a, authorization)
		time.Sleep(time.Nanosecond)
		wantRefused(t, a, authorization, "expired")
	})
}

func TestARememberedTokenIsNotVerifiedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSigner(t, jwt.SigningMethodES256, "k1")
		a, is := inBubble(t, newStore(), s)
		authorization := s.sign(t, is.claims(nil))
		wantPrincipal(t, a, authorization)
		a.issuer.keys.Store(&keySet{}) // nothing verifies now
		is.setDown(true)
		time.Sleep(defaultCacheTTL - 1)
		wantPrincipal(t, a, authorization)
		time.Sleep(time.Nanosecond)
		wantUnavailable(t, a, authorization)
	})
}

func TestConcurrentTokensShareAFetch(t *testing.T) {
	s := newSigner(t, jwt.SigningMethodES256, "k1")
	a, is := onLoopback(t, newStore(), s)
	authorizations := make([]string, 16)
	for i := range authorizations {
		authorizations[i] = s.sign(t, is.claims(map[string]any{"jti": i}))
	}
	var wg sync.WaitGroup
	for _, authorization := range authorizations {
		wg.Go(func() {
			if _, err := a.Authenticate(t.Context(), authorization); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := is.fetched(); n != 1 {
		t.Errorf("the keys were fetched %d times, want 1", n)
	}
}

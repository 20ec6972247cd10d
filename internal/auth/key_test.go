package auth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/google/go-cmp/cmp"
)

func TestAPIKeys(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	for _, tc := range []struct {
		name      string
		secret    string
		scheme    string
		workspace string
		scopes    []feedmill.Scope
		all       bool
	}{
		{"reader", feedmill.NewKeySecret(), "Bearer ", "other", []feedmill.Scope{feedmill.ScopeRead}, false},
		{"no scope", feedmill.NewKeySecret(), "Bearer ", "other", nil, false},
		{"scheme in small letters", feedmill.NewKeySecret(), "bearer ", "other", []feedmill.Scope{feedmill.ScopeRead}, false},
		{"several spaces", feedmill.NewKeySecret(), "Bearer   ", "other", []feedmill.Scope{feedmill.ScopeRead}, false},
		{"admin of a workspace", feedmill.NewKeySecret(), "Bearer ", "other", feedmill.Scopes, false},
		{"admin of default", feedmill.NewKeySecret(), "Bearer ", feedmill.DefaultWorkspace, feedmill.Scopes, true},
		{"writer in default", feedmill.NewKeySecret(), "Bearer ", feedmill.DefaultWorkspace, []feedmill.Scope{feedmill.ScopeWrite}, false},
		{"an operator's own text", "my own first key: 24 chars and more", "Bearer ", feedmill.DefaultWorkspace, feedmill.Scopes, true},
		{"an operator's dotted text", "aaaaaaaaaa.bbbbbbbbbb.cccccccccc", "Bearer ", feedmill.DefaultWorkspace, feedmill.Scopes, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id := store.add(tc.secret, tc.workspace, tc.scopes...)
			want := feedmill.Principal{Workspace: store.workspace(tc.workspace), Subject: string(id), Name: "name of " + string(id), Scopes: tc.scopes, AllWorkspaces: tc.all}
			for _, from := range []string{"the store", "memory"} {
				if diff := cmp.Diff(want, wantPrincipal(t, a, tc.scheme+tc.secret)); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", from, diff)
				}
			}
		})
	}
}

func TestRefusedCredentials(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	revoked := feedmill.NewKeySecret()
	store.add(revoked, "other", feedmill.ScopeRead)
	store.revoke(revoked)
	orphan := feedmill.NewKeySecret()
	store.add(orphan, "other", feedmill.ScopeAdmin)
	known := feedmill.NewKeySecret()
	store.add(known, "other", feedmill.ScopeRead)
	store.workspaces = store.workspaces[:1]

	for _, tc := range []struct{ name, authorization, want string }{
		{"nothing", "", "no credential"},
		{"another scheme", "Basic dXNlcjpwYXNzd29yZA==", "Bearer scheme"},
		{"no scheme", known, "Bearer scheme"},
		{"scheme alone", "Bearer", "no credential after Bearer"},
		{"scheme and spaces", "Bearer   ", "no credential after Bearer"},
		{"unknown", "Bearer " + feedmill.NewKeySecret(), "is unknown"},
		{"cut short", "Bearer " + known[:len(known)-1], "is unknown"},
		{"with more", "Bearer " + known + "x", "is unknown"},
		{"in capitals", "Bearer " + strings.ToUpper(known), "is unknown"},
		{"too short to be one", "Bearer hunter2", "not an API key"},
		{"too long to be one", "Bearer " + strings.Repeat("secret", maxCredential), "too long"},
		{"revoked", "Bearer " + revoked, "revoked"},
		{"of a workspace that is gone", "Bearer " + orphan, "no longer exists"},
		{"a token where no issuer is configured", "Bearer eyJhbGciOiJub25lIn0.e30.", "is unknown"},
	} {
		t.Run(tc.name, func(t *testing.T) { wantRefused(t, a, tc.authorization, tc.want) })
	}
}

// A store that returns another key than the one asked for is not believed.
func TestTheHashIsComparedAgain(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	store.add("fm_one", "other", feedmill.ScopeRead)
	store.keys[feedmill.HashKey("fm_two")] = store.keys[feedmill.HashKey("fm_one")]
	wantRefused(t, a, "Bearer fm_two", "is unknown")
}

func TestAFailureOfTheStoreIsNotARefusal(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	secret := feedmill.NewKeySecret()
	store.add(secret, "other", feedmill.ScopeRead)
	down := errors.New("database is away")
	store.fail(down)
	_, err := a.Authenticate(t.Context(), "Bearer "+secret)
	if !errors.Is(err, down) || errors.Is(err, feedmill.ErrUnauthenticated) {
		t.Errorf("Authenticate = %v, want the store's error", err)
	}
	wantNoSecret(t, err, "Bearer "+secret)
	store.fail(nil)
	wantPrincipal(t, a, "Bearer "+secret)
}

func TestAKeyWorksFromTheMomentItIsMade(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{})
	wantRefused(t, a, "Bearer fm_soon", "is unknown")
	store.add("fm_soon", "other", feedmill.ScopeRead)
	wantPrincipal(t, a, "Bearer fm_soon")
}

func TestAKeyEndsToTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{CacheTTL: time.Hour})
		store.add("fm_key", "other", feedmill.ScopeRead)
		store.expire("fm_key", time.Minute)
		wantPrincipal(t, a, "Bearer fm_key")
		time.Sleep(time.Minute - 1)
		wantPrincipal(t, a, "Bearer fm_key")
		time.Sleep(time.Nanosecond)
		wantRefused(t, a, "Bearer fm_key", "expired")
	})
}

func TestAVerifiedKeyIsRememberedForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		store.add("fm_key", "other", feedmill.ScopeRead)
		wantPrincipal(t, a, "Bearer fm_key")
		store.revoke("fm_key") // by another process
		time.Sleep(defaultCacheTTL - 1)
		wantPrincipal(t, a, "Bearer fm_key")
		if store.lookups != 1 {
			t.Errorf("%d lookups, want 1", store.lookups)
		}
		time.Sleep(time.Nanosecond)
		wantRefused(t, a, "Bearer fm_key", "revoked")
	})
}

func TestAForgottenKeyIsReadAgainAtOnce(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{CacheTTL: time.Hour})
	id := store.add("fm_key", "other", feedmill.ScopeRead)
	store.add("fm_stays", "other", feedmill.ScopeRead)
	wantPrincipal(t, a, "Bearer fm_key")
	wantPrincipal(t, a, "Bearer fm_stays")
	store.revoke("fm_key")
	a.Forget(id)
	wantRefused(t, a, "Bearer fm_key", "revoked")
	wantPrincipal(t, a, "Bearer fm_stays")
	if store.lookups != 3 {
		t.Errorf("%d lookups, want 3", store.lookups)
	}
}

// The key is read, then revoked and forgotten, and only then remembered.
func TestAKeyForgottenWhileItIsVerifiedIsNotRemembered(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{CacheTTL: time.Hour})
	id := store.add("fm_key", "other", feedmill.ScopeRead)
	store.afterLookup = func() {
		store.revoke("fm_key")
		a.Forget(id)
	}
	wantPrincipal(t, a, "Bearer fm_key") // it began before the revocation
	wantRefused(t, a, "Bearer fm_key", "revoked")
}

func TestBadCredentialsTakeNoMemory(t *testing.T) {
	a := newAuthenticator(t, newStore(), Options{})
	for range 100 {
		wantRefused(t, a, "Bearer "+feedmill.NewKeySecret(), "is unknown")
	}
	if n := len(a.verified.entries); n != 0 {
		t.Errorf("%d unknown keys are remembered", n)
	}
}

func TestConcurrentUse(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{CacheTTL: time.Nanosecond})
	id := store.add("fm_key", "other", feedmill.ScopeRead)
	ctx, cancel := context.WithCancel(t.Context())
	var run, use sync.WaitGroup
	run.Go(func() {
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for range 4 {
		use.Go(func() {
			for range 200 {
				if _, err := a.Authenticate(ctx, "Bearer fm_key"); err != nil {
					t.Error(err)
				}
				if _, err := a.Authenticate(ctx, "Bearer fm_bad"); err == nil {
					t.Error("a bad key was accepted")
				}
				a.Forget(id)
				if err := a.writeUsed(ctx, writeUsedTimeout); err != nil {
					t.Error(err)
				}
			}
		})
	}
	use.Wait()
	cancel()
	run.Wait()
	if got, _ := store.lastUse(id); got.IsZero() {
		t.Error("the last use was not written")
	}
}

func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer fm_key", "bearer\tfm_key", "Bearer a.b.c", "Bearer eyJhbGciOiJub25lIn0.e30."} {
		f.Add(seed)
	}
	a, err := New(newStore(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization string) {
		if _, err := a.Authenticate(t.Context(), authorization); !errors.Is(err, feedmill.ErrUnauthenticated) {
			t.Errorf("Authenticate(%q) = %v, want unauthenticated", authorization, err)
		}
		_, credential, _ := strings.Cut(authorization, " ")
		looksLikeJWT(credential)
	})
}

func BenchmarkRememberedKey(b *testing.B) {
	store := newStore()
	a, err := New(store, Options{CacheTTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	secret := feedmill.NewKeySecret()
	store.add(secret, "other", feedmill.ScopeRead)
	authorization := "Bearer " + secret
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Authenticate(b.Context(), authorization); err != nil {
			b.Fatal(err)
		}
	}
}

func TestARememberedKeyCostsAtMostOneAllocation(t *testing.T) {
	store := newStore()
	a := newAuthenticator(t, store, Options{CacheTTL: time.Hour})
	secret := feedmill.NewKeySecret()
	store.add(secret, "other", feedmill.ScopeRead)
	authorization := "Bearer " + secret
	wantPrincipal(t, a, authorization)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { a.Authenticate(ctx, authorization) }); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
}

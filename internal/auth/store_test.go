package auth

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// memStore keeps keys and workspaces in memory.
type memStore struct {
	memSessions
	memPortals
	mu         sync.Mutex
	keys       map[feedmill.KeyHash]feedmill.Key
	workspaces []feedmill.Workspace
	used       map[feedmill.ID]time.Time
	lookups    int
	touches    int
	err        error
	// afterLookup, where set, runs once between the reading of a key and its
	// return.
	afterLookup func()
}

// newStore makes a store with the workspaces default and other.
func newStore() *memStore {
	s := &memStore{keys: make(map[feedmill.KeyHash]feedmill.Key), used: make(map[feedmill.ID]time.Time)}
	for _, name := range []string{feedmill.DefaultWorkspace, "other"} {
		s.workspaces = append(s.workspaces, feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: name})
	}
	return s
}

func (s *memStore) workspace(name string) feedmill.ID {
	w, err := s.WorkspaceByName(context.Background(), name)
	if err != nil {
		panic(err)
	}
	return w.ID
}

// add keeps a new key for the secret.
func (s *memStore) add(secret, workspace string, scopes ...feedmill.Scope) feedmill.ID {
	id := feedmill.NewID(feedmill.PrefixKey)
	key := feedmill.Key{
		ID:        id,
		Name:      "name of " + string(id),
		Workspace: s.workspace(workspace),
		Scopes:    scopes,
		Hash:      feedmill.HashKey(secret),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key.Hash] = key
	return key.ID
}

func (s *memStore) revoke(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.keys[feedmill.HashKey(secret)]
	key.RevokedAt = time.Now()
	s.keys[key.Hash] = key
}

// expire has a key end after a time.
func (s *memStore) expire(secret string, in time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.keys[feedmill.HashKey(secret)]
	key.ExpiresAt = time.Now().Add(in)
	s.keys[key.Hash] = key
}

func (s *memStore) KeyByHash(_ context.Context, hash feedmill.KeyHash) (feedmill.Key, error) {
	s.mu.Lock()
	s.lookups++
	key, ok := s.keys[hash]
	err, after := s.err, s.afterLookup
	s.afterLookup = nil
	s.mu.Unlock()
	if after != nil {
		after()
	}
	if err == nil && !ok {
		err = feedmill.ErrNotFound
	}
	return key, err
}

func (s *memStore) WorkspaceByID(_ context.Context, id feedmill.ID) (feedmill.Workspace, error) {
	return s.findWorkspace(func(w feedmill.Workspace) bool { return w.ID == id })
}

func (s *memStore) WorkspaceByName(_ context.Context, name string) (feedmill.Workspace, error) {
	return s.findWorkspace(func(w feedmill.Workspace) bool { return w.Name == name })
}

func (s *memStore) findWorkspace(is func(feedmill.Workspace) bool) (feedmill.Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return feedmill.Workspace{}, s.err
	}
	for _, w := range s.workspaces {
		if is(w) {
			return w, nil
		}
	}
	return feedmill.Workspace{}, feedmill.ErrNotFound
}

func (s *memStore) TouchKeys(ctx context.Context, used map[feedmill.ID]time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.touches++
	if err := errors.Join(s.err, ctx.Err()); err != nil {
		return err
	}
	maps.Copy(s.used, used)
	return nil
}

// lastUse returns what was written of a key and in how many writes.
func (s *memStore) lastUse(key feedmill.ID) (at time.Time, touches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[key], s.touches
}

func (s *memStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func newAuthenticator(t testing.TB, store Store, o Options) *Authenticator {
	t.Helper()
	a, err := New(store, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantRefused checks that the credential is refused as unauthenticated, with a
// detail that has want in it and nothing of the credential.
func wantRefused(t testing.TB, a *Authenticator, authorization, want string) {
	t.Helper()
	_, err := a.Authenticate(t.Context(), authorization)
	if !errors.Is(err, feedmill.ErrUnauthenticated) {
		t.Errorf("Authenticate = %v, want unauthenticated", err)
		return
	}
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || !strings.Contains(refusal.Detail, want) {
		t.Errorf("Authenticate = %v, want a refusal with %q", err, want)
	}
	wantNoSecret(t, err, authorization)
}

// wantNoSecret checks that an error repeats no part of a credential.
func wantNoSecret(t testing.TB, err error, authorization string) {
	t.Helper()
	_, credential, _ := strings.Cut(authorization, " ")
	for part := range strings.FieldsFuncSeq(credential, func(r rune) bool { return r == '.' || r == ' ' }) {
		if len(part) > 3 && strings.Contains(err.Error(), part) {
			t.Errorf("the error %q repeats %q of the credential", err, part)
		}
	}
}

func wantPrincipal(t testing.TB, a *Authenticator, authorization string) feedmill.Principal {
	t.Helper()
	p, err := a.Authenticate(t.Context(), authorization)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Package storetest is the contract of a store, as a suite that every engine
// passes. A change of what a store promises lands here first.
package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is everything that a store does, in the words of those who use it.
type Store interface {
	Ping(context.Context) error
	Close() error

	CreateWorkspace(context.Context, feedmill.Workspace, *feedmill.Once) error
	WorkspaceByID(context.Context, feedmill.ID) (feedmill.Workspace, error)
	WorkspaceByName(context.Context, string) (feedmill.Workspace, error)
	Workspaces(context.Context, feedmill.Page) ([]feedmill.Workspace, error)

	CreateKey(context.Context, feedmill.Key, *feedmill.Once) error
	Bootstrap(ctx context.Context, w feedmill.Workspace, k feedmill.Key, onlyFirst bool) (added bool, err error)
	KeyByHash(context.Context, feedmill.KeyHash) (feedmill.Key, error)
	Keys(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Key, error)
	RevokeKey(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	TouchKeys(context.Context, map[feedmill.ID]time.Time) error

	Keep(context.Context, feedmill.Once) error
	Answered(ctx context.Context, workspace feedmill.ID, key string, now time.Time) (feedmill.Once, error)
	ForgetAnswers(ctx context.Context, now time.Time, limit int) (int64, error)

	VaultKeyset(context.Context) ([]byte, error)
	SwapVaultKeyset(ctx context.Context, old, new []byte) error
}

// Engine is a kind of store under test.
type Engine struct {
	// Name is the engine's, and part of every test's name.
	Name string
	// Make makes an empty store and answers how to open it. Every call of
	// open is a new handle on the same store, as a restart or a second
	// replica has it; the handle is closed with the test.
	Make func(t *testing.T) (open func(t *testing.T) Store)
	// Shared says that several handles may be open at once.
	Shared bool
}

// Run runs the whole suite on an engine.
func Run(t *testing.T, e Engine) {
	t.Run(e.Name, func(t *testing.T) {
		for _, group := range []struct {
			name  string
			cases []testCase
		}{
			{"workspaces", workspaceCases},
			{"keys", keyCases},
			{"once", onceCases},
			{"vault", vaultCases},
			{"lifecycle", lifecycleCases},
		} {
			t.Run(group.name, func(t *testing.T) {
				for _, c := range group.cases {
					t.Run(c.name, func(t *testing.T) {
						if c.shared && !e.Shared {
							t.Skipf("%s has one handle at a time", e.Name)
						}
						t.Parallel()
						c.run(t, e.Make(t))
					})
				}
			})
		}
	})
}

type testCase struct {
	name   string
	shared bool
	run    func(t *testing.T, open func(t *testing.T) Store)
}

// now is a moment as records keep it: in UTC, to the millisecond.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error is %v, want %v", err, kind)
	}
}

// newWorkspace makes a workspace with a name of its own.
func newWorkspace(t *testing.T, s Store) feedmill.Workspace {
	t.Helper()
	id := feedmill.NewID(feedmill.PrefixWorkspace)
	w := feedmill.Workspace{ID: id, Name: "name of " + string(id), CreatedAt: now()}
	must(t, s.CreateWorkspace(t.Context(), w, nil))
	return w
}

func newKey(w feedmill.ID) feedmill.Key {
	return feedmill.Key{
		ID: feedmill.NewID(feedmill.PrefixKey), Workspace: w, Name: "a key",
		Scopes: []feedmill.Scope{feedmill.ScopeRead, feedmill.ScopeAdmin}, CreatedAt: now(),
		Hash: feedmill.HashKey(feedmill.NewKeySecret()),
	}
}

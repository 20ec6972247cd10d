package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/feedmill/feedmill/client"
)

// These tests hold the package client against the program. They stand here
// because the client may not import the server, not even to test itself.

func TestClient(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	admin := p.client(p.mustFirstKey(t))
	ctx := t.Context()

	w, err := admin.CreateWorkspace(ctx, "acme")
	if err != nil {
		t.Fatal(err)
	}
	k, err := admin.CreateKey(ctx, client.NewKey{Name: "of acme", Scopes: []string{"admin", "api:read"}, WorkspaceID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	if k.Secret == "" || k.WorkspaceID != w.ID || k.CreatedAt.IsZero() || !k.LastUsedAt.IsZero() {
		t.Errorf("the key is %+v", k)
	}

	// Seen from inside the workspace there is nothing else.
	acme := p.client(k.Secret)
	kept := k
	kept.Secret = ""
	if diff := cmp.Diff([]client.Key{kept}, collect(t, acme.Keys(ctx)), cmp.FilterPath(isLastUsed, cmp.Ignore())); diff != "" {
		t.Errorf("the keys of the workspace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]client.Workspace{w}, collect(t, acme.Workspaces(ctx)), cmpopts.IgnoreFields(client.Workspace{}, "LastRequestAt")); diff != "" {
		t.Errorf("the workspaces of its admin (-want +got):\n%s", diff)
	}

	if err := acme.RevokeKey(ctx, k.ID); err != nil {
		t.Fatal(err)
	}
	wantProblem(t, acme.RevokeKey(ctx, k.ID), client.Problem{Type: "/problems/unauthenticated", Status: http.StatusUnauthorized})
}

func isLastUsed(p cmp.Path) bool { return p.Last().String() == ".LastUsedAt" }

func TestClientListsPages(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	admin := p.client(p.mustFirstKey(t))
	want := make([]string, 0, 61)
	for k, err := range admin.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, k.ID)
	}
	for i := range 60 { // more than a page
		k, err := admin.CreateKey(t.Context(), client.NewKey{Name: fmt.Sprint("key ", i), Scopes: []string{"api:read"}})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, k.ID)
	}
	slices.Reverse(want) // newest first

	if got := p.keyIDs(t, p.mustFirstKey(t)); !slices.Equal(got, want) {
		t.Errorf("the keys are\n%v, want\n%v", got, want)
	}
	// A cancelled context ends the list at the next page.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range admin.Keys(ctx) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the list ends with %v, want context.Canceled", err)
			}
			break
		}
		cancel()
		n++
	}
	if n == 0 || n >= len(want) {
		t.Errorf("a list that is cancelled in its first page gave %d of %d keys", n, len(want))
	}
}

func TestClientProblems(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	admin := p.client(p.mustFirstKey(t))
	ctx := t.Context()
	reader, err := admin.CreateKey(ctx, client.NewKey{Name: "reader", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.CreateWorkspace(ctx, "taken"); err != nil {
		t.Fatal(err)
	}

	_, err = admin.CreateKey(ctx, client.NewKey{Name: "", Scopes: []string{"api:reed"}})
	wantProblem(t, err, client.Problem{
		Type: "/problems/invalid-request", Status: http.StatusBadRequest,
		Errors: []client.Fault{{Pointer: "/name"}, {Pointer: "/scopes/0"}},
	})
	_, err = p.client("").CreateWorkspace(ctx, "w")
	wantProblem(t, err, client.Problem{Type: "/problems/unauthenticated", Status: http.StatusUnauthorized})
	_, err = p.client(reader.Secret).CreateWorkspace(ctx, "w")
	wantProblem(t, err, client.Problem{Type: "/problems/missing-scope", Status: http.StatusForbidden})
	_, err = admin.CreateWorkspace(ctx, "taken")
	wantProblem(t, err, client.Problem{Status: http.StatusConflict})
	wantProblem(t, admin.RevokeKey(ctx, "key_1"), client.Problem{Type: "/problems/not-found", Status: http.StatusNotFound})
}

// wantProblem compares what an error says to programs: the status, the places
// at fault, and the type where one is wanted.
func wantProblem(t *testing.T, err error, want client.Problem) {
	t.Helper()
	got, ok := errors.AsType[*client.Problem](err)
	if !ok {
		t.Errorf("the error is %v, want a problem with status %d", err, want.Status)
		return
	}
	if got.Title == "" || got.Detail == "" || got.Instance == "" {
		t.Errorf("the problem says too little: %+v", got)
	}
	said := client.Problem{Type: got.Type, Status: got.Status}
	for _, f := range got.Errors {
		if f.Detail == "" {
			t.Errorf("the fault at %s%s%s has no detail", f.Pointer, f.Parameter, f.Header)
		}
		f.Detail = ""
		said.Errors = append(said.Errors, f)
	}
	if want.Type == "" {
		said.Type = ""
	}
	if want.Errors == nil {
		said.Errors = nil
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("the problem (-want +got):\n%s", diff)
	}
}

func collect[T any](t *testing.T, list func(func(T, error) bool)) []T {
	t.Helper()
	var all []T
	for item, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

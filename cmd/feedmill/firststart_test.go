package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/client"
)

func TestFirstKeyIsPrintedOnce(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := serve(t, data)
	key := first.mustFirstKey(t)
	if ids := first.keyIDs(t, key); len(ids) != 1 {
		t.Errorf("after the first start there are the keys %v, want one", ids)
	}
	first.mustStop(t)

	second := serve(t, data)
	second.keyIDs(t, key)
	second.mustStop(t)
	if out := second.stdout.String(); strings.Contains(out, "fm_") {
		t.Errorf("the second start prints a key:\n%s", out)
	}
	for _, p := range []*process{first, second} {
		if strings.Contains(p.stderr.String(), key) {
			t.Error("the log shows the key")
		}
	}
}

func TestBootstrapKey(t *testing.T) {
	t.Parallel()
	const one, two = "the-operator-has-chosen-this-one", "and-at-a-later-start-this-one"
	data := filepath.Join(t.TempDir(), "data")

	p := serve(t, data, "FEEDMILL_BOOTSTRAP_KEY="+one)
	first := p.keyIDs(t, one)
	if len(first) != 1 {
		t.Fatalf("there are the keys %v, want the bootstrap key alone", first)
	}
	p.mustStop(t)
	if out := p.stdout.String() + p.stderr.String(); strings.Contains(out, one) || strings.Contains(out, "fm_") {
		t.Errorf("a key is shown:\n%s", out)
	}

	// The same key again changes nothing; a new one is added.
	p = serve(t, data, "FEEDMILL_BOOTSTRAP_KEY="+one)
	if again := p.keyIDs(t, one); !slices.Equal(again, first) {
		t.Errorf("after a second start with the same key there are %v, want %v", again, first)
	}
	p.mustStop(t)
	p = serve(t, data, "FEEDMILL_BOOTSTRAP_KEY="+two)
	both := p.keyIDs(t, two)
	if len(both) != 2 || !slices.Contains(both, first[0]) {
		t.Errorf("after a start with a new key there are %v, want %v and one more", both, first)
	}

	// A revoked key stays revoked, whatever the environment says.
	if err := p.client(two).RevokeKey(t.Context(), first[0]); err != nil {
		t.Fatal(err)
	}
	p.mustStop(t)
	p = serve(t, data, "FEEDMILL_BOOTSTRAP_KEY="+one)
	for _, err := range p.client(one).Keys(t.Context()) {
		var problem *client.Problem
		if !errors.As(err, &problem) || problem.Status != http.StatusUnauthorized {
			t.Errorf("the revoked key gets %v, want status 401", err)
		}
	}
	if left := p.keyIDs(t, two); slices.Contains(left, first[0]) {
		t.Error("the revoked key is listed")
	}
}

// TestDataIsForItsOwnerAlone starts the program with a mask that hides nothing.
func TestDataIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "deep", "data")
	p := serve(t, data, umaskEnv+"=0")
	p.keyIDs(t, p.mustFirstKey(t))

	// The server still runs, so that its temporary files are seen too.
	var names []string
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since the folder was read
		}
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if perm := info.Mode().Perm(); perm != want {
			t.Errorf("%s has mode %04o, want %04o", path, perm, want)
		}
		names = append(names, entry.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"feedmill.db", "feedmill.db-wal", "vault.key", "lock"} {
		if !slices.Contains(names, want) {
			t.Errorf("the data folder has %v, and not %s", names, want)
		}
	}
}

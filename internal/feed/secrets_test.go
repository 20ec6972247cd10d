package feed

import (
	"errors"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestSecretsOfLateRuns holds that a run keeps the secrets that a source has rotated, and that a run
// which has lost the source, or secrets that were changed meanwhile, are not overwritten.
func TestSecretsOfLateRuns(t *testing.T) {
	s, source := newFetching(t)
	source.docs["a"], source.docs["b"] = []string{`[{"n":1}]`}, []string{`[{"n":2}]`}
	a, b := s.fetched(t, s.one, `{"from":"a","path":"$[*]"}`, ""), s.fetched(t, s.one, `{"from":"b","path":"$[*]"}`, "")
	sourceOf := func(f feedmill.Feed) (now feedmill.Source, secrets string) {
		t.Helper()
		err := s.db.ChangeSource(t.Context(), f.Workspace, f.Source, func(c *feedmill.SourceChange) error {
			now = c.Source
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := s.Vault.Unseal(t.Context(), now.Secrets, now.SecretsRecord())
		if err != nil {
			t.Fatal(err)
		}
		return now, string(plain)
	}
	want := func(ofA, ofB string) {
		t.Helper()
		_, first := sourceOf(a)
		if _, second := sourceOf(b); first != ofA || second != ofB {
			t.Errorf("the secrets are %q and %q, want %q and %q", first, second, ofA, ofB)
		}
	}
	want("next", "next")
	before, _ := sourceOf(a)
	lost := before
	lost.Run--
	if err := s.keepSecrets(t.Context(), &lost, []byte("of a lost run")); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("a run that has lost its source: %v", err)
	}
	want("next", "next")
	current := before
	if err := s.keepSecrets(t.Context(), &current, []byte("rotated")); err != nil {
		t.Error(err)
	}
	want("rotated", "next")
	if err := s.keepSecrets(t.Context(), &current, []byte("rotated again")); err != nil {
		t.Error(err)
	}
	want("rotated again", "next")
	late := before // with the secrets before those
	if err := s.keepSecrets(t.Context(), &late, []byte("late")); err != nil {
		t.Error(err)
	}
	want("rotated again", "next")
}

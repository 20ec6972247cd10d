package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
	"pgregory.net/rapid"
)

func TestASealedValueOpensForItsRecordAlone(t *testing.T) {
	v := open(t, new(memStore))
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		record := rapid.StringN(1, -1, 64).Draw(t, "record")
		other := rapid.String().Filter(func(s string) bool { return s != record }).Draw(t, "other")

		sealed, err := v.Seal(plain, record)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Unseal(context.Background(), sealed, record)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("unsealed %q, %v; want %q", got, err, plain)
		}
		if got, err := v.Unseal(context.Background(), sealed, other); !errors.Is(err, ErrBroken) {
			t.Fatalf("record %q opened what was sealed for %q: %q, %v", other, record, got, err)
		}
	})
}

func TestAChangedValueDoesNotOpen(t *testing.T) {
	// The bubble's clock makes the waits for an unknown key's id free.
	synctest.Test(t, func(t *testing.T) {
		v := open(t, new(memStore))
		sealed := seal(t, v, "whsec_secret", "sub_1")
		for i := range sealed {
			bad := bytes.Clone(sealed)
			bad[i] ^= 0x10
			if plain, err := v.Unseal(t.Context(), bad, "sub_1"); !errors.Is(err, ErrBroken) {
				t.Errorf("with byte %d changed: %q, %v", i, plain, err)
			}
			if plain, err := v.Unseal(t.Context(), sealed[:i], "sub_1"); !errors.Is(err, ErrBroken) {
				t.Errorf("cut to %d bytes: %q, %v", i, plain, err)
			}
		}
	})
}

func TestASecretNeedsARecord(t *testing.T) {
	v := open(t, new(memStore))
	if _, err := v.Seal([]byte("secret"), ""); err == nil {
		t.Error("sealed for no record")
	}
	if _, err := v.Unseal(t.Context(), seal(t, v, "secret", "con_1"), ""); !errors.Is(err, ErrBroken) {
		t.Errorf("unsealed for no record: %v", err)
	}
}

func TestSealingTwiceGivesDifferentBytes(t *testing.T) {
	v := open(t, new(memStore))
	if bytes.Equal(seal(t, v, "secret", "con_1"), seal(t, v, "secret", "con_1")) {
		t.Error("the same text was sealed to the same bytes twice")
	}
}

func TestSecretsOutliveTheProcess(t *testing.T) {
	store := new(memStore)
	sealed := seal(t, open(t, store), "secret", "con_1")
	wantUnsealed(t, open(t, store), sealed, "con_1", "secret")
	if store.swaps != 1 {
		t.Errorf("%d keysets were written, want 1", store.swaps)
	}
}

func TestTheWrongKeyIsRefused(t *testing.T) {
	store := new(memStore)
	open(t, store)
	before := store.sealed
	_, err := Open(t.Context(), testKey(t, keyText+"!"), store)
	if !errors.Is(err, ErrWrongKey) {
		t.Errorf("Open = %v, want ErrWrongKey", err)
	}
	if !bytes.Equal(store.sealed, before) {
		t.Error("the keyset was replaced")
	}
}

func TestADamagedKeysetIsNotReplaced(t *testing.T) {
	store := &memStore{sealed: []byte{0xff, 0xff, 0xff}}
	if _, err := Open(t.Context(), testKey(t, keyText), store); err == nil || errors.Is(err, ErrWrongKey) {
		t.Errorf("Open = %v, want an error about the keyset", err)
	}
	if store.swaps != 0 {
		t.Error("the keyset was replaced")
	}
}

func TestOpenNeedsAKey(t *testing.T) {
	if _, err := Open(t.Context(), Key{}, new(memStore)); err == nil {
		t.Error("opened without a key")
	}
}

func TestStoreFailuresPass(t *testing.T) {
	down := errors.New("database is away")
	if _, err := Open(t.Context(), testKey(t, keyText), &memStore{err: down}); !errors.Is(err, down) {
		t.Errorf("Open = %v, want the store's error", err)
	}
	store := new(memStore)
	v := open(t, store)
	other := seal(t, open(t, new(memStore)), "secret", "con_1")
	store.err = down
	if err := v.Rotate(t.Context()); !errors.Is(err, down) {
		t.Errorf("Rotate = %v, want the store's error", err)
	}
	if _, err := v.Unseal(t.Context(), other, "con_1"); !errors.Is(err, down) || errors.Is(err, ErrBroken) {
		t.Errorf("Unseal = %v, want the store's error", err)
	}
}

func TestAnEmptyStoreOpenedByManyGetsOneKeyset(t *testing.T) {
	store := new(memStore)
	key := testKey(t, keyText)
	vaults := make([]*Vault, 8)
	var wg sync.WaitGroup
	for i := range vaults {
		wg.Go(func() {
			var err error
			if vaults[i], err = Open(t.Context(), key, store); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	if store.swaps != 1 {
		t.Errorf("%d keysets were written, want 1", store.swaps)
	}
	for i, v := range vaults {
		wantUnsealed(t, vaults[(i+1)%len(vaults)], seal(t, v, "secret", "con_1"), "con_1", "secret")
	}
}

func TestTheLoserOfTheFirstOpenTakesTheWinnersKeyset(t *testing.T) {
	store := new(memStore)
	var winner *Vault
	store.beforeSwap = func() { winner = open(t, store) }
	loser := open(t, store)
	wantUnsealed(t, loser, seal(t, winner, "secret", "con_1"), "con_1", "secret")
}

func TestRotation(t *testing.T) {
	store := new(memStore)
	a, b := open(t, store), open(t, store)
	early := seal(t, a, "early", "con_1")
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := seal(t, a, "late", "con_1")
	earlyID, _ := keyID(early)
	if lateID, ok := keyID(late); !ok || lateID == earlyID {
		t.Error("the new key does not seal")
	}
	wantUnsealed(t, a, early, "con_1", "early")
	wantUnsealed(t, b, late, "con_1", "late")
	wantUnsealed(t, b, early, "con_1", "early")
	wantUnsealed(t, open(t, store), late, "con_1", "late")
}

func TestARotationThatLosesTheRaceKeepsTheWinnersKey(t *testing.T) {
	store := new(memStore)
	a, b := open(t, store), open(t, store)
	store.beforeSwap = func() {
		if err := b.Rotate(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := a.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(a.keys.Load().ids); n != 3 {
		t.Errorf("the keyset has %d keys, want the first and two rotations", n)
	}
	wantUnsealed(t, a, seal(t, b, "secret", "con_1"), "con_1", "secret")
}

func TestARotationThatNeverWinsGivesUp(t *testing.T) {
	store := new(memStore)
	v := open(t, store)
	v.store = alwaysConflicting{store}
	if err := v.Rotate(t.Context()); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("Rotate = %v, want a conflict", err)
	}
}

// alwaysConflicting reads like its store and never lets a swap win.
type alwaysConflicting struct{ store *memStore }

func (s alwaysConflicting) VaultKeyset(context.Context) ([]byte, error) { return s.store.sealed, nil }

func (s alwaysConflicting) SwapVaultKeyset(context.Context, []byte, []byte) error {
	return feedmill.ErrConflict
}

func TestGarbageReadsTheKeysetOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memStore)
		v := open(t, store)
		foreign := seal(t, open(t, new(memStore)), "secret", "con_1")
		reads := store.reads

		start := time.Now()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := v.Unseal(t.Context(), foreign, "con_1"); !errors.Is(err, ErrBroken) {
					t.Errorf("Unseal = %v, want ErrBroken", err)
				}
			})
		}
		wg.Wait()
		// One for the first call, one that the others share.
		if got := store.reads - reads; got > 2 {
			t.Errorf("100 calls read the keyset %d times", got)
		}
		if waited := time.Since(start); waited > reloadEvery {
			t.Errorf("the calls waited %v", waited)
		}
	})
}

func TestARotationIsSeenRightAfterGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memStore)
		a, b := open(t, store), open(t, store)
		foreign := seal(t, open(t, new(memStore)), "secret", "con_1")
		if _, err := b.Unseal(t.Context(), foreign, "con_1"); !errors.Is(err, ErrBroken) {
			t.Fatalf("Unseal = %v, want ErrBroken", err)
		}
		if err := a.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantUnsealed(t, b, seal(t, a, "late", "con_1"), "con_1", "late")
	})
}

func TestAWaitForTheKeysetCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open(t, new(memStore))
		foreign := seal(t, open(t, new(memStore)), "secret", "con_1")
		v.Unseal(t.Context(), foreign, "con_1")
		ctx, cancel := context.WithTimeout(t.Context(), reloadEvery/2)
		defer cancel()
		if _, err := v.Unseal(ctx, foreign, "con_1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Unseal = %v, want the deadline", err)
		}
	})
}

func TestRotationUnderUse(t *testing.T) {
	store := new(memStore)
	a, b := open(t, store), open(t, store)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				plain := fmt.Sprint(i)
				sealed, err := a.Seal([]byte(plain), "con_1")
				if err != nil {
					t.Error(err)
					return
				}
				got, err := a.Unseal(t.Context(), sealed, "con_1")
				if err != nil || string(got) != plain {
					t.Errorf("unsealed %q, %v; want %q", got, err, plain)
				}
			}
		})
	}
	for _, v := range []*Vault{a, b} {
		wg.Go(func() {
			for range 5 {
				if err := v.Rotate(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if store.swaps != 11 {
		t.Errorf("%d keysets were written, want the first and 10 rotations", store.swaps)
	}
}

func FuzzUnseal(f *testing.F) {
	v := open(f, new(memStore))
	f.Add(seal(f, v, "secret", "con_1"), "con_1")
	f.Add([]byte{1, 0, 0, 0, 0}, "con_1")
	f.Fuzz(func(t *testing.T, sealed []byte, record string) {
		// The key is made for this run, so nothing from outside opens but
		// the value of the first seed.
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // no waiting for unknown keys
		plain, err := v.Unseal(ctx, sealed, record)
		if err == nil && (string(plain) != "secret" || record != "con_1") {
			t.Errorf("opened for %q: %q", record, plain)
		}
	})
}

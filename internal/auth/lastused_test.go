package auth

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// running starts Run in the bubble of the test and returns how to end it.
func running(t *testing.T, a *Authenticator) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func TestLastUsedTimesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		id := store.add("fm_key", "other", feedmill.ScopeRead)
		stop := running(t, a)

		const pause = writeUsedEvery / 20
		for range 10 {
			wantPrincipal(t, a, "Bearer fm_key")
			time.Sleep(pause)
		}
		last := time.Now().Add(-pause)
		if _, touches := store.lastUse(id); touches != 0 {
			t.Errorf("%d writes before their time", touches)
		}
		time.Sleep(writeUsedEvery)
		synctest.Wait()
		if got, touches := store.lastUse(id); !got.Equal(last) || touches != 1 {
			t.Errorf("%v in %d writes, want %v in 1", got, touches, last)
		}
		time.Sleep(10 * writeUsedEvery)
		synctest.Wait()
		if _, touches := store.lastUse(id); touches != 1 {
			t.Errorf("%d writes, though the key was not used again", touches)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestLastUsedTimesAreWrittenAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		id := store.add("fm_key", "other", feedmill.ScopeRead)
		stop := running(t, a)
		wantPrincipal(t, a, "Bearer fm_key")
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got, _ := store.lastUse(id); !got.Equal(time.Now()) {
			t.Errorf("last used %v, want %v", got, time.Now())
		}
	})
}

func TestLastUsedTimesSurviveAForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		id := store.add("fm_key", "other", feedmill.ScopeRead)
		stop := running(t, a)
		wantPrincipal(t, a, "Bearer fm_key")
		a.Forget(id)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got, _ := store.lastUse(id); got.IsZero() {
			t.Error("the last use was lost")
		}
	})
}

func TestLastUsedTimesSurviveAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		a := newAuthenticator(t, store, Options{})
		early := store.add("fm_early", "other", feedmill.ScopeRead)
		both := store.add("fm_both", "other", feedmill.ScopeRead)
		stop := running(t, a)
		wantPrincipal(t, a, "Bearer fm_early")
		wantPrincipal(t, a, "Bearer fm_both")
		first := time.Now()

		store.fail(errors.New("database is away"))
		time.Sleep(writeUsedEvery + time.Second)
		synctest.Wait()
		if got, touches := store.lastUse(early); !got.IsZero() || touches != 1 {
			t.Fatalf("%v in %d writes, want none and 1", got, touches)
		}
		store.fail(nil)
		wantPrincipal(t, a, "Bearer fm_both")
		second := time.Now()
		time.Sleep(writeUsedEvery)
		synctest.Wait()
		gotEarly, _ := store.lastUse(early)
		gotBoth, _ := store.lastUse(both)
		if !gotEarly.Equal(first) || !gotBoth.Equal(second) {
			t.Errorf("last used %v and %v, want %v and %v", gotEarly, gotBoth, first, second)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheLastWriteIsBoundedAndItsErrorToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := hangingStore{newStore()}
		a := newAuthenticator(t, store, Options{})
		store.add("fm_key", "other", feedmill.ScopeRead)
		stop := running(t, a)
		wantPrincipal(t, a, "Bearer fm_key")
		if err := stop(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run = %v, want the deadline", err)
		}
	})
}

// hangingStore takes for ever to write last-used times.
type hangingStore struct{ *memStore }

func (hangingStore) TouchKeys(ctx context.Context, _ map[feedmill.ID]time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

package lake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill/internal/share"
)

// Whatever the sizes and whoever is faster, what comes out is what went in.
func TestSpoolKeepsOrder(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newSpool(rapid.IntRange(1, 50).Draw(t, "memory"), rapid.Int64Range(0, 200).Draw(t, "disk"), folder)
		var want []byte
		parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 30).Draw(t, "parts")
		for _, p := range parts {
			want = append(want, p...)
		}
		var got bytes.Buffer
		var writer sync.WaitGroup
		writer.Go(func() {
			for _, p := range parts {
				if n, err := s.Write(p); n != len(p) || err != nil {
					t.Errorf("wrote %d of %d, %v", n, len(p), err)
				}
			}
			s.end(nil)
		})
		if err := s.copyTo(&got); err != nil {
			t.Error(err)
		}
		writer.Wait()
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("got %v, want %v", got.Bytes(), want)
		}
	})
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// The worker is done while the client has not taken anything.
func TestSpoolDoesNotWaitForTheClient(t *testing.T) {
	s := newSpool(10, 1000, t.TempDir())
	for range 100 {
		if _, err := s.Write([]byte("123456789 ")); err != nil {
			t.Fatal(err)
		}
	}
	broken := fmt.Errorf("the worker died: %w", io.EOF)
	s.end(broken)
	var got bytes.Buffer
	if err := s.copyTo(&got); !errors.Is(err, broken) || got.Len() != 1000 {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

type refuser struct{ err error }

func (r refuser) Write([]byte) (int, error) { return 0, r.err }

func TestSpoolTellsTheWorkerThatTheClientIsGone(t *testing.T) {
	s := newSpool(10, 0, "")
	gone := errors.New("gone")
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			if _, err := s.Write([]byte("123456789 ")); err != nil {
				if !errors.Is(err, gone) {
					t.Error(err)
				}
				return
			}
		}
	})
	if err := s.copyTo(refuser{gone}); !errors.Is(err, gone) {
		t.Error(err)
	}
	writer.Wait()
}

// All spools together have no more on disk than there is for them: a worker then
// waits for its client, and goes on when another has taken its rows.
func TestSpoolsShareTheDisk(t *testing.T) {
	budget := share.NewBudget(100, 60)
	spoolOf := func(holder string) *spool {
		s := newSpool(10, 1000, t.TempDir())
		s.take = func(n int64) bool { return budget.Take(holder, n) }
		s.give = func(n int64) { budget.Give(holder, n) }
		return s
	}
	a, b := spoolOf("a"), spoolOf("a")
	for range 5 { // one part is in memory
		if _, err := a.Write(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
	if budget.Used() != 40 {
		t.Fatalf("%d bytes are on disk", budget.Used())
	}
	written := make(chan error, 1)
	go func() {
		var err error
		for range 4 {
			_, err = b.Write(make([]byte, 10))
		}
		written <- err
	}()
	b.mu.Lock()
	for b.written < 20 {
		b.changed.Wait()
	}
	b.mu.Unlock()
	if budget.Take("a", 1) {
		t.Error("a workspace has more than its share")
	}
	b.end(nil)
	if err := b.copyTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	for _, s := range []*spool{a, b} {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
	if budget.Used() != 0 {
		t.Errorf("%d bytes are not given back", budget.Used())
	}
}

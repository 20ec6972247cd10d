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

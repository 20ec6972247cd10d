package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/feedmill/feedmill/internal/blob/s3test"
)

// TestExtracts has many readers share ranges of two objects. Extracts count towards the limit of the
// cache, an interrupted one is not kept, and none outlives the process.
func TestExtracts(t *testing.T) {
	s := s3test.New(t)
	writer := openBucket(t, s, "x", t.TempDir(), 1<<30)
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i * i >> 7)
	}
	names := []string{"df_1/a.parquet", "df_2/b.parquet"}
	for _, name := range names {
		putIn(t, writer, name, content)
	}
	cache := t.TempDir()
	b := openBucket(t, s, "x", cache, 500)
	ranges := func(_ context.Context, from io.ReaderAt, to io.Writer) error {
		for _, at := range []int64{1000, 900_000} {
			part := make([]byte, 100)
			if _, err := from.ReadAt(part, at); err != nil {
				return err
			}
			if _, err := to.Write(part); err != nil {
				return err
			}
		}
		return nil
	}
	want := append(bytes.Clone(content[1000:1100]), content[900_000:900_100]...)
	before := s.Requests(t, "s3_GetObject")
	var readers sync.WaitGroup
	for range 64 {
		for _, name := range names {
			readers.Go(func() {
				lease, ok, err := b.Extract(t.Context(), name, "k", ranges)
				if err != nil || !ok {
					t.Error(ok, err)
					return
				}
				defer lease.Release()
				if got, err := os.ReadFile(lease.Path); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		}
	}
	readers.Wait()
	if n := s.Requests(t, "s3_GetObject") - before; n != 4 {
		t.Errorf("%d requests were made", n)
	}
	if n := cached(t, cache); n != 400 {
		t.Errorf("the cache has %d bytes", n)
	}
	// A third extract takes the place of the one that was used first.
	lease, _, err := b.Extract(t.Context(), names[0], "other", ranges)
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
	if n := cached(t, cache); n != 400 {
		t.Errorf("a cache of 500 bytes has %d", n)
	}
	broken := errors.New("broken")
	for range 2 {
		_, _, err := b.Extract(t.Context(), names[0], "broken", func(ctx context.Context, from io.ReaderAt, to io.Writer) error {
			return errors.Join(ranges(ctx, from, to), broken)
		})
		if !errors.Is(err, broken) {
			t.Errorf("an extract that fails: %v", err)
		}
	}
	if _, _, err := b.Extract(t.Context(), names[0], "behind", func(_ context.Context, from io.ReaderAt, _ io.Writer) error {
		_, err := from.ReadAt(make([]byte, 100), int64(len(content))-50)
		return err
	}); err == nil {
		t.Error("a range behind the end was read")
	}
	if n := cached(t, cache); n != 400 {
		t.Errorf("after failures the cache has %d bytes", n)
	}
	whole := openBucket(t, s, "x", t.TempDir(), 1<<30)
	readFrom(t, whole, names[0])
	if _, ok, err := whole.Extract(t.Context(), names[0], "k", ranges); ok || err != nil {
		t.Errorf("an extract of a cached file: %v, %v", ok, err)
	}
	openBucket(t, s, "x", cache, 500)
	if n := cached(t, cache); n != 0 {
		t.Errorf("after a restart the cache has %d bytes", n)
	}
}

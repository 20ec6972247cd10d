package blob

import (
	"bytes"
	"testing"

	"github.com/feedmill/feedmill/internal/pagecache/pagecachetest"
)

// TestLargeDraftsLeaveMemory reads two drafts, of which only the smaller one stays in memory.
func TestLargeDraftsLeaveMemory(t *testing.T) {
	folder, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	folder.Large = 2 * stride
	for _, c := range []struct{ strides, resident int64 }{{2, 2}, {4, 0}} {
		d, err := folder.begin("d")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		text := bytes.Repeat([]byte("0123456789abcdef"), stride/16)
		for range c.strides {
			if _, err := d.Write(text); err != nil {
				t.Fatal(err)
			}
		}
		pagecachetest.Evict(t, d.file)
		part := make([]byte, len(text))
		for i := range c.strides {
			if n, err := d.ReadAt(part, i*stride); err != nil || !bytes.Equal(part, text) {
				t.Fatalf("%d bytes of stride %d, %v", n, i, err)
			}
		}
		// The kernel reads a little ahead of what was asked for.
		if got := pagecachetest.Resident(t, d.file); got < c.resident*stride || got > c.resident*stride+stride/2 {
			t.Errorf("%d bytes of a draft of %d strides stay in memory, want %d strides", got, c.strides, c.resident)
		}
	}
}

// TestLargeDraftsAreWrittenOut writes drafts of two sizes. Only the strides of the larger one are
// on their way to the disk before the draft is kept.
func TestLargeDraftsAreWrittenOut(t *testing.T) {
	folder, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	folder.Large = 2 * stride
	for _, c := range []struct{ strides, written int64 }{{2, 0}, {3, 3}} {
		d, err := folder.begin("d")
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for range c.strides {
			if _, err := d.Write(make([]byte, stride)); err != nil {
				t.Fatal(err)
			}
		}
		if d.writtenOut != c.written*stride {
			t.Errorf("%d bytes of a draft of %d strides are written out, want %d strides", d.writtenOut, c.strides, c.written)
		}
	}
}

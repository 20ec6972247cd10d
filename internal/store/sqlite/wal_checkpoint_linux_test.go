package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/pagecache/pagecachetest"
)

// TestTheWALIsLoadedAheadOfCommits evicts a WAL from memory and commits once. The part that the
// next commits overwrite is loaded.
func TestTheWALIsLoadedAheadOfCommits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	wal, err := os.OpenFile(file+"-wal", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer wal.Close()
	if _, err := wal.Write(make([]byte, 1000*frameSize)); err != nil {
		t.Fatal(err)
	}
	c := newCheckpointer(nil, file)
	defer c.wal.Close()
	for _, frames := range []int{10, 500, 3} { // it begins anew at the last
		pagecachetest.Evict(t, wal)
		c.load(frames)
		deadline := time.Now().Add(20 * time.Second)
		for pagecachetest.Resident(t, wal) < loadedFrames/2*frameSize {
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes are in memory after a commit that ended at frame %d", pagecachetest.Resident(t, wal), frames)
			}
			time.Sleep(time.Millisecond)
		}
		if got := pagecachetest.Resident(t, wal); got > 4*loadedFrames*frameSize {
			t.Errorf("%d bytes are in memory after a commit that ended at frame %d", got, frames)
		}
	}
}

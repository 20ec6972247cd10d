package sqlite

import (
	"os"
	"sync"

	"github.com/feedmill/feedmill/internal/pagecache"
)

// maxKeptWAL is how many bytes the WAL keeps on disk when it begins anew, however
// long it has been.
const maxKeptWAL = 64 << 20

const (
	// checkpointFrames is how many pages gather in the WAL before they are
	// written to the file: 16 MB, in which a page that many commits change is
	// written once.
	checkpointFrames = 4000
	// What comes during a pass is gone after, until it is few or mostPasses
	// were made.
	fewFrames  = 500
	mostPasses = 4
	// loadedFrames is how many pages of the WAL are kept in memory ahead of the writer, and
	// frameSize how long one is.
	loadedFrames = 64
	frameSize    = 24 + 4096
)

// checkpointer writes the WAL to the file while commits go on. Only when all of
// the WAL is in the file can it begin anew, and there is always something that
// came meanwhile; so the last bit is left to the writer.
type checkpointer struct {
	conn *direct  // its own
	wal  *os.File // nil if it cannot be read
	wg   sync.WaitGroup
	// passed gets a value when a pass is over.
	passed chan struct{}
	// begun is how long the WAL was when the last pass began, and next how
	// long it must be for another one. They are the writer's.
	begun, next int
	busy        bool
	// last is how long the WAL was after the last commit, and loaded how far it is in memory.
	last, loaded int
}

func newCheckpointer(d *direct, file string) *checkpointer {
	wal, err := os.Open(file + "-wal")
	if err != nil {
		wal = nil // commits are slower beside large files
	}
	return &checkpointer{conn: d, wal: wal, passed: make(chan struct{}, 1), next: checkpointFrames}
}

// load keeps the part of the WAL that the next commits overwrite in memory. A commit ends in
// the middle of a page of the file; if large files have displaced that page, the commit waits
// until it is read from disk.
func (c *checkpointer) load(frames int) {
	if c.wal == nil {
		return
	}
	if frames < c.last {
		c.loaded = 0 // it has begun anew
	}
	c.last = frames
	if frames+loadedFrames/2 > c.loaded {
		c.loaded = max(c.loaded, frames)
		pagecache.Load(c.wal, int64(c.loaded)*frameSize, loadedFrames*frameSize)
		c.loaded += loadedFrames
	}
}

// committed is called by the writer after each commit.
func (c *checkpointer) committed(writer *direct) {
	frames := writer.frames()
	c.load(frames)
	if frames < c.begun {
		c.begun, c.next = 0, checkpointFrames // it has begun anew
	}
	if c.busy {
		select {
		case <-c.passed:
			c.busy = false
			// Where a reader still needs what would be overwritten, this
			// does less than all, and the next pass goes on with it.
			checkpointPassive(writer)
		default:
		}
		return
	}
	if frames >= c.next {
		c.busy, c.begun, c.next = true, frames, frames+checkpointFrames
		c.wg.Go(c.pass)
	}
}

func (c *checkpointer) pass() {
	done := int64(0)
	for range mostPasses {
		now := checkpointPassive(c.conn)
		if now-done <= fewFrames {
			break
		}
		done = now
	}
	c.passed <- struct{}{}
}

func (c *checkpointer) close() {
	c.wg.Wait()
	c.conn.close()
	if c.wal != nil {
		_ = c.wal.Close()
	}
}

// checkpointPassive writes to the file what is in the WAL by now, as far as no
// reader needs what is in the file, and returns how much of the WAL is there. A
// failure is not told: the WAL is as good a place, and the commits that make it
// longer meet with the same trouble.
func checkpointPassive(d *direct) (done int64) {
	err := d.each(`PRAGMA wal_checkpoint(PASSIVE)`, nil, func(r *row) {
		r.int() // whether somebody else is at it
		r.int() // how long the WAL is
		done = r.int()
	})
	if err != nil {
		return 0
	}
	return done
}

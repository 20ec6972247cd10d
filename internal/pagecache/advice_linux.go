package pagecache

import (
	"os"

	"golang.org/x/sys/unix"
)

// Load reads a part of a file into memory in the background.
func Load(f *os.File, offset, length int64) {
	_ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_WILLNEED)
}

// WriteOut writes a part of a file to disk in the background.
func WriteOut(f *os.File, offset, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
}

// Drop removes a part of a file from memory, except what is not on disk yet.
func Drop(f *os.File, offset, length int64) {
	_ = unix.Fadvise(int(f.Fd()), offset, length, unix.FADV_DONTNEED)
}

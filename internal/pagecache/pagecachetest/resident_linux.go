// Package pagecachetest looks into the page cache.
package pagecachetest

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Evict writes a file to disk and removes it from memory. It skips the test on a file system
// that has only memory.
func Evict(t testing.TB, f *os.File) {
	t.Helper()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if resident := Resident(t, f); resident > 0 {
		t.Skipf("%d bytes of a file stay in memory on this file system", resident)
	}
}

// Resident returns how many bytes of a file are in memory, in whole pages.
func Resident(t testing.TB, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(mapped); err != nil {
			t.Error(err)
		}
	}()
	page := os.Getpagesize()
	pages := make([]byte, (len(mapped)+page-1)/page)
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	var resident int64
	for _, p := range pages {
		resident += int64(p&1) * int64(page)
	}
	return resident
}

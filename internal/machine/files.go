package machine

import "syscall"

// OpenFiles is how many files this process may have open, and at least more than
// it needs where that is not known.
func OpenFiles() int {
	const plenty = 40_000
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return plenty
	}
	return int(min(uint64(files.Cur), plenty))
}

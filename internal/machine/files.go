package machine

import "syscall"

// OpenFiles returns how many files this process can have open, up to 40,000, which is more
// than it needs.
func OpenFiles() int {
	const enough = 40_000
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return enough
	}
	return int(min(uint64(files.Cur), enough))
}

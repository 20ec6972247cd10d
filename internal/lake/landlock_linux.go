package lake

import "syscall"

// Landlock reports whether the kernel can keep a worker from all files but its own.
func Landlock() bool {
	const createRuleset, askVersion = 444, 1
	version, _, errno := syscall.Syscall(createRuleset, 0, 0, askVersion)
	return errno == 0 && int(version) >= 1
}

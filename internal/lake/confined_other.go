//go:build !linux

package lake

import (
	"os"
	"syscall"
)

// confined puts a worker into a process group of its own. A worker whose
// server dies ends by itself, as its socket does.
func confined() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// self is the program that runs now.
func self() string {
	program, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return program
}

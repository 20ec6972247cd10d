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

// lowerPriority gives a group of processes less of the processors than this process
// has.
func lowerPriority(group, by int) error {
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, group, own+by)
}

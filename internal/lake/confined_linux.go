package lake

import "syscall"

// confined puts a worker into a process group of its own, so that it can be
// killed with all that it started and does not get the signals of a terminal,
// and has the kernel kill it when the server dies.
func confined() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// self is the program that runs now.
func self() string { return "/proc/self/exe" }

// lowerPriority gives all threads of a group of processes less of the processors than
// this process has.
func lowerPriority(group, by int) error {
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, group, 20-own+by) // the system call counts from 20 downwards
}

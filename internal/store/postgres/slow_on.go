//go:build slowcommit

package postgres

import "syscall"

// afterCommit adds 2 ms to each commit. The tag slowcommit builds a program
// with which a benchmark shows what a slower database would cost.
func afterCommit() {
	// A call of the system; the runtime's own timers take a good deal longer on
	// a busy machine.
	_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 2_000_000}, nil)
}

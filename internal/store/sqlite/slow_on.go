//go:build slowcommit

package sqlite

import "time"

// afterCommit adds 2 ms to each commit. The tag slowcommit builds a program
// with which a benchmark shows what a slower disk would cost.
func afterCommit() { time.Sleep(2 * time.Millisecond) }

//go:build slowcommit

package postgres

import "time"

// afterCommit adds 2 ms to each commit. The tag slowcommit builds a program
// with which a benchmark shows what a slower database would cost.
func afterCommit() { time.Sleep(2 * time.Millisecond) }

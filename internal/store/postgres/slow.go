//go:build !slowcommit

package postgres

// afterCommit is called after each commit that went through, before those who
// wait for it are told. It does nothing; see slow_on.go.
func afterCommit() {}

package rig

import (
	"os"
	"os/exec"
)

// Peer is a process in a role of the benchmark's own.
type Peer struct {
	*process
	// Said is the line that it printed first.
	Said string
}

// StartRole starts a process in a role and waits for its first line. The role
// ends when its standard input does, so that it never outlives the benchmark.
func StartRole(name string, args ...string) (*Peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, said, err := start(exec.Command(self, append([]string{name}, args...)...))
	if err != nil {
		return nil, err
	}
	return &Peer{p, said}, nil
}

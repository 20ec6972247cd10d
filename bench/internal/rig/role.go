package rig

import (
	"fmt"
	"io"
	"net"
	"net/http"
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

// Serve is the work of a role that is a server: it says where it is, and serves
// until its standard input ends.
func Serve(handler http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // the benchmark is gone
	}()
	return http.Serve(l, handler)
}

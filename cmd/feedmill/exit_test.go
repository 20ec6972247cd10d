package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// TestInterrupted interrupts a command while it waits for the server.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	waits := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		waits <- true
		<-r.Context().Done()
	}))
	defer server.Close()
	cmd, err := command(t.Context(), t.TempDir(), []string{"FEEDMILL_API_KEY=fm_any"}, "feeds", "list", "--server", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err := begin(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	<-waits
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if code := p.cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("the exit code is %d, want %d", code, exitInterrupted)
	}
	if got, want := p.stderr.String(), "feedmill: interrupted\n"; got != want {
		t.Errorf("the command prints %q, want %q", got, want)
	}
}

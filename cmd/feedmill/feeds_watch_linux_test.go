package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchAtATerminal holds that progress is drawn on one line there, which is
// gone when the answer comes.
func TestWatchAtATerminal(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"), "FEEDMILL_EGRESS_ALLOW=127.0.0.0/8")
	key := p.mustFirstKey(t)
	tty := openTerminal(t)
	file := filepath.Join(t.TempDir(), "orders.json")
	if err := os.WriteFile(file, newSource(t).spec("/orders"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := commandIn(t, t.TempDir(), "feeds", "create", "rest", "-f", file, "--watch", "--server", p.url)
	cmd.Env = append(cmd.Env, "FEEDMILL_API_KEY="+key)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, tty.device
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, tty.shown.String())
	}
	tty.await(t, "\r\x1b[Ksucceeded: 1 requests, 1 pages")
	tty.await(t, "2 rows\r\x1b[K")
	if shown := tty.shown.String(); strings.Contains(shown, "\n") || !strings.Contains(out.String(), "ready") {
		t.Errorf("the terminal shows %q, and the answer is\n%s", shown, out.String())
	}
}

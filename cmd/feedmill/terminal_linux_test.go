package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what a program does to it, and what it shows.
type terminal struct {
	keyboard *os.File // the side of the user
	device   *os.File // the side of the program
	shown    transcript
	closed   chan struct{}
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	device, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	tty := &terminal{keyboard: keyboard, device: device, closed: make(chan struct{})}
	go func() {
		defer close(tty.closed)
		io.Copy(&tty.shown, keyboard) // ends when nobody holds the device any more
	}()
	t.Cleanup(func() {
		device.Close()
		<-tty.closed
		keyboard.Close()
	})
	return tty
}

// await waits until the terminal has shown a text.
func (tty *terminal) await(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		text, more := tty.shown.read()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("the terminal shows %q, not %q", text, want)
		}
	}
}

// echoes reports whether the terminal shows what is typed.
func (tty *terminal) echoes(t *testing.T) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(tty.device.Fd()), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

// commandIn is the program in a folder where nobody is logged in.
func commandIn(t *testing.T, config string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd, err := command(ctx, t.TempDir(), []string{"XDG_CONFIG_HOME=" + config}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestLoginAtATerminal(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	key := p.mustFirstKey(t)
	tty, config := openTerminal(t), t.TempDir()
	cmd := commandIn(t, config, "login", "--server", p.url)
	var out strings.Builder
	cmd.Stdin, cmd.Stderr, cmd.Stdout = tty.device, tty.device, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.await(t, "API key for "+p.url+": ")
	if _, err := io.WriteString(tty.keyboard, key+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, tty.shown.String())
	}
	if shown := tty.shown.String() + out.String(); strings.Contains(shown, key) {
		t.Errorf("the key shows:\n%s", shown)
	}
	if !tty.echoes(t) {
		t.Error("the terminal does not show any more what is typed")
	}
	text, err := os.ReadFile(filepath.Join(config, "feedmill", "credentials.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept credentials
	if err := json.Unmarshal(text, &kept); err != nil || kept != (credentials{p.url, key}) {
		t.Errorf("what is kept is not what was typed (%v)", err)
	}
}

func TestLoginInterrupted(t *testing.T) {
	t.Parallel()
	tty, config := openTerminal(t), t.TempDir()
	cmd := commandIn(t, config, "login", "--server", "http://127.0.0.1:1")
	cmd.Stdin, cmd.Stderr = tty.device, tty.device
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.await(t, "API key for")
	if tty.echoes(t) {
		t.Error("the terminal shows what is typed")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("it ended with %d:\n%s", code, tty.shown.String())
	}
	if !tty.echoes(t) {
		t.Error("the terminal does not show any more what is typed")
	}
}

// Colour is for people at a terminal, and for those alone who want it.
func TestColour(t *testing.T) {
	t.Parallel()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	env := []string{"FEEDMILL_SERVER=" + p.url, "FEEDMILL_API_KEY=" + p.mustFirstKey(t)}
	const green = "\x1b[32mavailable\x1b[0m"
	for _, test := range []struct {
		name     string
		terminal bool
		env      []string
		want     bool
	}{
		{"at a terminal", true, []string{"NO_COLOR="}, true},
		{"at a terminal without colour", true, []string{"NO_COLOR=1"}, false},
		{"in a pipe", false, []string{"NO_COLOR="}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := commandIn(t, t.TempDir(), "events", "types")
			cmd.Env = append(append(cmd.Env, env...), test.env...)
			var shown func() string
			if test.terminal {
				tty := openTerminal(t)
				cmd.Stdout = tty.device
				shown = func() string {
					tty.await(t, "subscription.disabled")
					return tty.shown.String()
				}
			} else {
				var out strings.Builder
				cmd.Stdout, shown = &out, out.String
			}
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			if text := shown(); strings.Contains(text, green) != test.want || strings.Contains(text, "\x1b") != test.want {
				t.Errorf("colour is wanted: %v; it shows:\n%q", test.want, text)
			}
		})
	}
}

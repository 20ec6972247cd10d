package pgtest

import (
	"bufio"
	_ "embed" // for the script
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

//go:embed watchdog.sh
var script string

// watchdog is the process that owns a server and its folder. It does both
// their making and their removal, so that at no moment there is something that
// only this process knows of.
type watchdog struct {
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
	folder  string
}

// startWatchdog starts the script, which makes a server and does not start it.
func startWatchdog(programs, temp string, lines []string) (*watchdog, error) {
	identity, err := unprivileged()
	if err != nil {
		return nil, err
	}
	args := append([]string{"-c", script, "pgtest", programs, temp}, lines...)
	cmd := exec.Command("/bin/sh", args...)
	// The variables that PostgreSQL's programs read would lead them astray.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.Dir = "/"
	// A session of its own keeps the interrupts of a terminal away.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: identity}
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &watchdog{cmd: cmd, orders: orders, answers: bufio.NewScanner(answers)}
	said, err := w.answer()
	if err != nil {
		w.close()
		return nil, err
	}
	w.folder = strings.TrimSpace(said)
	return w, nil
}

// ask gives an order and waits until it is carried out.
func (w *watchdog) ask(order, argument string) error {
	if _, err := fmt.Fprintln(w.orders, order, argument); err != nil {
		return err
	}
	_, err := w.answer()
	return err
}

// answer reads what the watchdog says about one step.
func (w *watchdog) answer() (string, error) {
	var said strings.Builder
	for w.answers.Scan() {
		switch line := w.answers.Text(); line {
		case "ok":
			return said.String(), nil
		case "failed":
			return "", errors.New(said.String())
		default:
			said.WriteString(line + "\n")
		}
	}
	return "", errors.Join(errors.New("the watchdog is gone: "+said.String()), w.answers.Err())
}

// close stops the server and waits until nothing is left of it.
func (w *watchdog) close() error {
	return errors.Join(w.orders.Close(), w.cmd.Wait())
}

// unprivileged is the identity for the server where it cannot be the caller's:
// PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root cannot run PostgreSQL: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

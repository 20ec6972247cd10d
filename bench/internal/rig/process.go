package rig

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// stopPatience is how long a process may take to end when it is asked to.
const stopPatience = 20 * time.Second

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	done bool
}

// start starts a program and returns the line that it prints first.
func start(cmd *exec.Cmd) (*process, string, error) {
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	// A program that reads its standard input sees it end with this process,
	// however that ends.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	p := &process{cmd: cmd}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		p.stop(os.Kill)
		return nil, "", fmt.Errorf("%s did not start: %w", cmd.Path, err)
	}
	go io.Copy(io.Discard, lines) // until the process ends
	return p, strings.TrimSpace(line), nil
}

// Stop ends the process and waits for it. It may be called again.
func (p *process) Stop() { p.stop(syscall.SIGTERM) }

func (p *process) stop(how os.Signal) {
	if p.done {
		return
	}
	p.done = true
	p.cmd.Process.Signal(how)
	impatience := time.AfterFunc(stopPatience, func() { p.cmd.Process.Kill() })
	defer impatience.Stop()
	p.cmd.Wait()
}

// CPUTime is what the process and its workers have used of the processors so far.
func (p *process) CPUTime() time.Duration { return familyTime(p.cmd.Process.Pid) }

package worker_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A worker does not outlive its server, even where that is killed while the
// worker is busy.
func TestWorkerEndsWithItsServer(t *testing.T) {
	server := exec.CommandContext(t.Context(), os.Args[0])
	server.Env = append(os.Environ(), serverEnv+"="+t.TempDir())
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	worker, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(worker)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	// The descriptor of a process is ready to read once that has ended.
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(worker), Events: unix.POLLIN}}, int(time.Minute/time.Millisecond))
		if err == nil && n == 1 {
			return
		}
		if err != unix.EINTR {
			t.Fatalf("the worker lives on: %d, %v", n, err)
		}
	}
}

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestSlowClients has a server taken by clients that open connections and send
// the header of a request byte by byte, for ever. The others are served all the
// while, their events are delivered, and neither memory nor file descriptors
// run out: not even where there are fewer of those than slow clients.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	n := longOr(1000, 10_000)
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if need := uint64(n + 1000); files.Max < need {
		cannot(t, "%d open files are needed, %d are allowed", need, files.Max)
	}
	t.Run("all have room", func(t *testing.T) { crowd(t, n, int(files.Max)) })
	t.Run("not all have room", func(t *testing.T) { crowd(t, n, n*3/5) })
}

func crowd(t *testing.T, n, files int) {
	book := newLedger()
	sink := book.sink(t)
	p := serveWithFiles(t, files)
	book.subscribe(t, p, sink)

	stop := make(chan struct{})
	var crowd sync.WaitGroup
	var came atomic.Int64
	for range n {
		crowd.Go(func() { trickle(p.url, stop, &came) })
	}
	leave := sync.OnceFunc(func() {
		close(stop)
		crowd.Wait()
	})
	defer leave()
	eventually(t, "all slow clients are connected", func() bool { return came.Load() >= int64(n) })
	stopPublishing := book.publish(t, "1")
	book.awaitAcknowledged(t, 300)
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if len(open) > min(files, n)+200 {
		t.Errorf("the server has %d files open", len(open))
	}
	if got := p.status("/readyz"); got != 200 {
		t.Errorf("GET /readyz answers %d", got)
	}
	stopPublishing()
	acknowledged, _ := book.awaitAll(t)
	t.Logf("%d slow clients, %d files allowed, %d open; %d events delivered; %s", n, files, len(open), acknowledged, p.memory(t))
	p.boundMemory(t, p.memory(t).program+64<<20+int64(n)*32<<10)
	leave()
	p.mustStop(t)
}

// trickle is a slow client. It comes back when it is thrown out.
func trickle(url string, stop <-chan struct{}, came *atomic.Int64) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	var conn net.Conn
	for more := "GET / HTTP/1.1\r\nHost: feedmill\r\nX-Slow: "; ; more = "a" {
		if conn == nil {
			conn, _ = net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			came.Add(1)
		}
		if conn != nil {
			if _, err := io.WriteString(conn, more); err != nil {
				conn.Close()
				conn = nil
			}
		}
		select {
		case <-stop:
			if conn != nil {
				conn.Close()
			}
			return
		case <-tick.C:
		}
	}
}

// serveWithFiles starts a server that may have so many files open.
func serveWithFiles(t *testing.T, files int) *process {
	t.Helper()
	link := filepath.Join(t.TempDir(), program)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd, err := command(t.Context(), t.TempDir(), append(onLoopback, leashEnv+"=1"), "serve", "--listen=127.0.0.1:0", "--data="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = shell
	cmd.Args = append([]string{"sh", "-c", `ulimit -n "$1" && shift && exec "$@"`, "sh", strconv.Itoa(files), link}, cmd.Args[1:]...)
	p, err := start(cmd)
	return p.until(t, err)
}

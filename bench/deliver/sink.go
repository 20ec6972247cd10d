package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// runSink is the endpoint of all subscriptions: it reads, counts and answers.
func runSink() error {
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, count.Load()) })
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		count.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, mux)
}

// process is a running program that prints its address first.
type process struct {
	cmd *exec.Cmd
	url string
}

// start starts a program and reads the line that it prints first.
func start(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, fmt.Errorf("%s did not start: %w", cmd.Path, err)
	}
	return &process{cmd, strings.TrimSpace(line)}, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

type sink struct{ *process }

func startSink() (sink, error) {
	self, err := os.Executable()
	if err != nil {
		return sink{}, err
	}
	p, err := start(exec.Command(self, "sink"))
	return sink{p}, err
}

func (s sink) count() (int, error) {
	resp, err := http.Get(s.url + "/count")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// waitFor waits until the sink has got n, and gives up when none comes any more.
func (s sink) waitFor(n int) error {
	last, since := -1, time.Now()
	for {
		got, err := s.count()
		if err != nil || got >= n {
			return err
		}
		if got != last {
			last, since = got, time.Now()
		}
		if time.Since(since) > 30*time.Second {
			return fmt.Errorf("the sink got %d of %d and no more for 30 s", got, n)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Package s3test starts a real S3 server for tests: versitygw, which keeps objects in a folder.
// `make test` builds it. Without it a test is skipped, or fails under CI=true.
package s3test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is an S3 server with one bucket.
type Server struct {
	// Folder has the objects of the bucket as files, below their keys.
	Folder               string
	AccessKey, SecretKey string

	program, root, address string
	process                *exec.Cmd
	output                 bytes.Buffer // of the process, read after it ended
}

// Bucket and Region are those of every server.
const (
	Bucket = "feeds"
	Region = "us-east-1"
)

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	program, err := find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	root := t.TempDir()
	s := &Server{program: program, root: root, Folder: filepath.Join(root, "objects", Bucket), AccessKey: "test-access", SecretKey: "test-secret-key"}
	for _, folder := range []string{s.Folder, filepath.Join(root, "sidecar")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The port stays the same when the server is started again.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	t.Cleanup(func() {
		if s.Kill(); t.Failed() {
			t.Logf("output of the S3 server: %s", &s.output)
		}
	})
	return s
}

// find finds the program below the folder of the module.
func find() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		program := filepath.Join(folder, "bin", "tools", "versitygw")
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("there is no bin/tools/versitygw; run 'make s3-server'")
		}
		folder = above
	}
}

// Start starts the server after [Server.Kill], and waits until it responds.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	objects, sidecar := filepath.Join(s.root, "objects"), filepath.Join(s.root, "sidecar")
	s.process = exec.CommandContext(context.Background(), s.program, "--port", s.address, "--access", s.AccessKey, "--secret", s.SecretKey, "--region", Region,
		"--quiet", "--keep-alive", "--health", "/health", "--access-log", s.log(), "posix", "--sidecar", sidecar, objects)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.output.Reset()
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: time.Second}
	for range 1000 {
		response, err := client.Get("http://" + s.address + "/health")
		if err == nil {
			response.Body.Close()
			if response.Header.Get("Server") == "VERSITYGW" { // and not another server that got the port
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Kill()
	t.Fatalf("the S3 server does not respond: %s", &s.output)
}

// Kill ends the server without notice. Its objects stay.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait() // killed
		s.process = nil
	}
}

// Freeze stops the server without closing its connections, until [Server.Thaw] continues it.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	// On a busy machine the server can continue for a while.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.process.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the S3 server did not stop: %v, %v", status, err)
	}
}

// Thaw continues the server after [Server.Freeze].
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// URL is FEEDMILL_BLOB_URL with a prefix.
func (s *Server) URL(prefix string) string {
	return fmt.Sprintf("s3://%s/%s?region=%s&endpoint=http://%s&pathStyle=true", Bucket, prefix, Region, s.address)
}

func (s *Server) log() string { return filepath.Join(s.root, "access.log") }

// Requests counts the requests in the access log whose line contains a text, such as
// "s3_GetObject".
func (s *Server) Requests(t testing.TB, with string) (n int) {
	t.Helper()
	text, err := os.ReadFile(s.log())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}

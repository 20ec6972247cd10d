package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/feedmill/feedmill/internal/app"
	"github.com/feedmill/feedmill/internal/config"
)

// The environment of a process that is a server: which one, and what it needs.
const (
	roleEnv    = "AUTHREAD_ROLE"
	roleApp    = "feedmill"
	roleBare   = "bare"
	folderEnv  = "AUTHREAD_FOLDER"
	bodyEnv    = "AUTHREAD_BODY"
	profileEnv = "AUTHREAD_PROFILE"
)

// adminKey is the key that every request carries.
const adminKey = "authread-is-the-only-client-here"

// server is the process of a server, seen from outside.
type server struct {
	url   string
	cmd   *exec.Cmd
	ask   io.WriteCloser
	heard *bufio.Reader
}

func startFeedmill(o options, folder string) (*server, error) {
	log, err := os.OpenFile(o.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return start(log, roleEnv+"="+roleApp, folderEnv+"="+folder, profileEnv+"="+o.profile)
}

func startBare(folder string, body []byte) (*server, error) {
	file := folder + "/body"
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return nil, err
	}
	return start(os.Stderr, roleEnv+"="+roleBare, bodyEnv+"="+file)
}

// start starts this program as a server and waits for its first line, which is
// its URL.
func start(log *os.File, env ...string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(self)}
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.Stderr = log
	if s.ask, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.heard = bufio.NewReader(out)
	if s.url, err = s.heard.ReadString('\n'); err != nil {
		s.end()
		return nil, fmt.Errorf("a server did not start: %w", err)
	}
	s.url = strings.TrimSpace(s.url)
	return s, nil
}

// cpu is how much CPU time the server's process has used.
func (s *server) cpu() (time.Duration, error) {
	if _, err := io.WriteString(s.ask, "\n"); err != nil {
		return 0, err
	}
	line, err := s.heard.ReadString('\n')
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return time.Duration(ns), err
}

func (s *server) end() {
	s.ask.Close()
	s.cmd.Wait()
}

// serveAs is this program as a server. It answers every line of its standard
// input with the CPU time that it has used, and ends with it.
func serveAs(role string) error {
	if file := os.Getenv(profileEnv); file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			var used syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
				return
			}
			fmt.Println(used.Utime.Nano() + used.Stime.Nano())
		}
	}()
	if role == roleBare {
		return serveBare(ctx)
	}
	return serveFeedmill(ctx)
}

func serveFeedmill(ctx context.Context) error {
	c, err := config.Load("", []string{
		"FEEDMILL_DATA=" + os.Getenv(folderEnv) + "/data", "FEEDMILL_LISTEN=127.0.0.1:0", "FEEDMILL_BOOTSTRAP_KEY=" + adminKey,
	}, nil)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, c, app.NewLog(c))
	if err != nil {
		return err
	}
	defer a.Close()
	return a.Serve(ctx, "bench", greeting{})
}

// greeting prints the URL out of what feedmill says at its start.
type greeting struct{}

var listening = regexp.MustCompile(`http://\S+`)

func (greeting) Write(p []byte) (int, error) {
	if url := listening.Find(p); url != nil {
		fmt.Printf("%s\n", url)
	}
	return len(p), nil
}

// serveBare writes the same bytes as feedmill, and does nothing else.
func serveBare(ctx context.Context) error {
	body, err := os.ReadFile(os.Getenv(bodyEnv))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	length := strconv.Itoa(len(body))
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	})}
	context.AfterFunc(ctx, func() { s.Close() })
	fmt.Println("http://" + l.Addr().String())
	if err := s.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

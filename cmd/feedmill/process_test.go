package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// patience bounds every wait for something that is sure to come, so that a
// test of a broken program ends with a word about what it waited for.
const patience = 2 * time.Minute

// command is the program with the given arguments. Of this process's
// environment it gets nothing that is a setting.
func command(ctx context.Context, dir string, env []string, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = program
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FEEDMILL_") && !strings.HasPrefix(kv, "OTEL_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd, nil
}

// process is a running program.
type process struct {
	cmd            *exec.Cmd
	url            string
	stdout, stderr transcript
	exited         chan struct{}
}

// launch starts "feedmill serve" on a free port and returns when it listens.
func launch(dir string, env []string, args ...string) (*process, error) {
	cmd, err := command(context.Background(), dir, append(env, leashEnv+"=1"), append([]string{"serve", "--listen=127.0.0.1:0"}, args...)...)
	if err != nil {
		return nil, err
	}
	return start(cmd)
}

// start starts a command that is "feedmill serve", or becomes it, and returns
// when it listens.
func start(cmd *exec.Cmd) (*process, error) {
	p, err := begin(cmd)
	if err != nil {
		return nil, err
	}
	if p.url, err = p.find(`is listening on (http://\S+)`); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// begin starts a command and goes on.
func begin(cmd *exec.Cmd) (*process, error) {
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.exited)
		cmd.Wait() // what came of it is in cmd.ProcessState
	}()
	return p, nil
}

// find waits until the program has printed what matches, and returns the first
// group of it.
func (p *process) find(pattern string) (string, error) {
	re := regexp.MustCompile(pattern)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for over := false; ; {
		text, more := p.stdout.read()
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1], nil
		}
		if over {
			return "", fmt.Errorf("%v without printing %s\nstdout:\n%s\nstderr:\n%s", p.cmd.ProcessState, pattern, text, p.stderr.String())
		}
		select {
		case <-more:
		case <-p.exited:
			over = true // one last look
		case <-ctx.Done():
			return "", fmt.Errorf("%s has not been printed\nstdout:\n%s", pattern, text)
		}
	}
}

// firstKey is the key that the first start prints.
func (p *process) firstKey() (string, error) { return p.find(`(?m)^  (fm_\S+)$`) }

// stop sends SIGTERM and returns whether the program ended well.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.wait()
}

func (p *process) wait() error {
	select {
	case <-p.exited:
	case <-time.After(patience):
		return errors.New("the program does not end")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%v\nstderr:\n%s", p.cmd.ProcessState, p.stderr.String())
	}
	return nil
}

// kill ends the program as a crash does: nothing of it runs any more.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.exited
}

// transcript is what a program has written so far.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed by the next write
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.more != nil {
		close(t.more)
		t.more = nil
	}
	return t.text.Write(p)
}

func (t *transcript) read() (text string, more <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.more == nil {
		t.more = make(chan struct{})
	}
	return t.text.String(), t.more
}

func (t *transcript) String() string {
	text, _ := t.read()
	return text
}

// serve starts a server that ends with the test at the latest.
func serve(t *testing.T, data string, env ...string) *process {
	t.Helper()
	p, err := launch(t.TempDir(), env, "--data="+data)
	return p.until(t, err)
}

// until ends the server with the test at the latest. err is what came of its
// start.
func (p *process) until(t *testing.T, err error) *process {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", p.stderr.String())
		}
	})
	return p
}

// refused starts a server that is expected not to start, and returns what it
// says about that.
func refused(t *testing.T, data string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd, err := command(ctx, t.TempDir(), env, "serve", "--listen=127.0.0.1:0", "--data="+data)
	if err != nil {
		t.Fatal(err)
	}
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("the server ended with %v, want exit status 1:\n%s", err, text)
	}
	return string(text)
}

// mustStop ends the server in good order.
func (p *process) mustStop(t *testing.T) {
	t.Helper()
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}

// mustFirstKey is the key that the first start prints.
func (p *process) mustFirstKey(t *testing.T) string {
	t.Helper()
	key, err := p.firstKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *process) client(key string) *client.Client { return client.New(p.url, key) }

// keyIDs lists the keys that the key may see.
func (p *process) keyIDs(t *testing.T, key string) []string {
	t.Helper()
	var ids []string
	for k, err := range p.client(key).Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, k.ID)
	}
	return ids
}

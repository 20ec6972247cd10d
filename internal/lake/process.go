package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// readyLimit is how long a worker may take until it says that it is ready,
// after its start and for every request. One that takes longer hangs.
const readyLimit = 30 * time.Second

// process is a worker that runs.
type process struct {
	cmd  *exec.Cmd
	conn net.Conn
	// folder is the worker's own, with its files and what it spills.
	folder  string
	queries int
	// database is the file of a database that the worker reads, if any.
	database *databaseFile
	// setBack says that it has less of the processors than others.
	setBack bool
	// dead is closed once the process has ended and left nothing behind.
	dead   chan struct{}
	stderr tail
	buf    []byte
}

const (
	// startAttempts is how often a worker is started before that is an error, and startPause how
	// long the first pause is between two attempts. Each is twice as long as the one before.
	startAttempts = 4
	startPause    = 20 * time.Millisecond
)

// start starts a worker and waits until it is ready. Where a file of a database is
// named, the worker reads that one. The reaper waits for its end.
//
// Where memory is short for a moment the kernel refuses processes and threads, and DuckDB ends while it starts
// its own. So there are several attempts.
func start(c *PoolConfig, database *databaseFile, reaper *sync.WaitGroup) (*process, error) {
	for attempt, pause := 1, startPause; ; attempt, pause = attempt+1, 2*pause {
		p, err := startOnce(c, database, reaper)
		if err == nil || attempt == startAttempts {
			return p, err
		}
		c.Log.Warn("a worker could not be started; it is tried again", "error", err)
		time.Sleep(pause)
	}
}

func startOnce(c *PoolConfig, database *databaseFile, reaper *sync.WaitGroup) (*process, error) {
	p := &process{dead: make(chan struct{}), database: database}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	p.conn = ours
	if p.folder, err = makeCage(c.Temp); err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	program := c.Program
	if program == "" {
		program = self()
	}
	p.cmd = exec.Command(program)
	p.cmd.Args = c.Args
	p.cmd.Env = []string{cageEnv + "=" + p.folder} // and nothing of the server's, such as its secrets
	if database != nil {
		p.cmd.Env = append(p.cmd.Env, database.environment(filepath.Join(p.folder, cageSpill))...)
	}
	p.cmd.Dir = filepath.Join(p.folder, cageFiles)
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.SysProcAttr = confined()
	err = p.cmd.Start()
	_ = theirs.Close() // only the worker holds its end, so that the socket ends with it
	if err != nil {
		return nil, errors.Join(err, ours.Close(), p.clean())
	}
	reaper.Go(func() {
		defer close(p.dead)
		_ = p.cmd.Wait() // its state is kept
		if err := p.clean(); err != nil {
			c.Log.Warn("deleting temporary files of a worker failed", "error", err)
		}
	})
	if err := p.greet(c); err != nil {
		p.kill()
		<-p.dead
		return nil, fmt.Errorf("%w (%s)", err, p.ending())
	}
	return p, nil
}

// socketPair is a pair of connected sockets: there is no name by which anybody
// else could connect, and none to remove.
func socketPair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("pair of sockets: %w", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "server")
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("pair of sockets: %w", err), theirs.Close())
	}
	return conn, theirs, nil
}

func (p *process) greet(c *PoolConfig) error {
	hello := wire.Hello{
		Folder: filepath.Join(p.folder, cageFiles), TempBytes: c.TempBytes,
		Memory: c.Memory, AddressSpace: c.AddressSpace, Threads: c.Threads, Process: c.Process,
	}
	if p.database != nil {
		hello.Engine, hello.Database, hello.DatabaseLog = p.database.engine, p.database.path, p.database.logPath()
		hello.Memory = p.database.memory(c.Memory)
		hello.Process = p.database.process(c.Memory)
	}
	if c.Temp != "" {
		hello.Temp = filepath.Join(p.folder, cageSpill)
	}
	return p.begin(wire.KindHello, hello)
}

// begin sends a message and waits until the worker has taken it.
func (p *process) begin(kind wire.Kind, message any) error {
	if err := p.conn.SetDeadline(time.Now().Add(readyLimit)); err != nil {
		return err
	}
	if err := wire.WriteMessage(p.conn, kind, message); err != nil {
		return err
	}
	answer, _, err := wire.Read(p.conn, nil)
	if err != nil {
		return err
	}
	if answer != wire.KindReady {
		return fmt.Errorf("the worker begins with a frame of kind %q", answer)
	}
	return p.conn.SetDeadline(time.Time{})
}

// ask sends a request and writes the rows that come back to out. A
// *wire.Failure and a *sinkError leave the worker as it is; after any other
// error it is of no use.
func (p *process) ask(request wire.Request, out io.Writer) (wire.End, error) {
	p.queries++
	var end wire.End
	takeBack, err := p.lend(request.Files)
	defer takeBack()
	if err != nil {
		return end, &sendError{err} // A worker that has ended takes its folder with it.
	}
	if err := p.begin(wire.KindRequest, request); err != nil {
		return end, &sendError{err}
	}
	for {
		kind, body, err := wire.Read(p.conn, p.buf)
		if err != nil {
			return end, err
		}
		p.buf = body
		switch kind {
		case wire.KindData:
			if _, err := out.Write(body); err != nil {
				return end, &sinkError{err}
			}
		case wire.KindEnd:
			return end, json.Unmarshal(body, &end)
		case wire.KindFailure:
			failure := new(wire.Failure)
			if err := json.Unmarshal(body, failure); err != nil {
				return end, err
			}
			return end, failure
		default:
			return end, fmt.Errorf("the worker sent a frame of kind %q", kind)
		}
	}
}

// sendError says that the worker did not take the request, so that another can have it.
type sendError struct{ error }

func (e *sendError) Unwrap() error { return e.error }

// sinkError says that whoever asked could not take the rows.
type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

// alive reports whether the process has not ended.
func (p *process) alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

// endLimit is how long a worker may take to end after it has closed its socket.
const endLimit = 2 * time.Second

// awaitEnd waits for the end of a process that has closed its socket.
func (p *process) awaitEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	select {
	case <-p.dead:
	case <-ctx.Done():
	}
}

// kill ends the process and whatever it started, at once.
func (p *process) kill() {
	// The number of a process that has ended may be another's by now.
	if p.alive() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = p.conn.Close()
}

func (p *process) clean() error { return os.RemoveAll(p.folder) }

// outOfMemory reports whether the process, which must have ended, did so because it needed
// more memory than it may have.
func (p *process) outOfMemory() bool {
	if p.cmd.ProcessState.ExitCode() == wire.ExitMemory {
		return true
	}
	output := p.stderr.text()
	for _, sign := range []string{"out of memory", "cannot allocate memory", "bad_alloc"} {
		if bytes.Contains(output, []byte(sign)) {
			return true
		}
	}
	return false
}

// ending says how the process ended, which it must have.
func (p *process) ending() string {
	state := p.cmd.ProcessState.String()
	if output := bytes.TrimSpace(p.stderr.text()); len(output) > 0 {
		return fmt.Sprintf("%s: %s", state, output)
	}
	return state
}

// tail keeps the first and the last bytes that were written to it: a crash begins with its reason.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool
}

const headBytes, tailBytes = 1024, 1024

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - headBytes - tailBytes; extra > 0 {
		t.buf = append(t.buf[:headBytes], t.buf[headBytes+extra:]...)
		t.cut = true
	}
	return len(p), nil
}

// text is what was kept.
func (t *tail) text() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.cut {
		return bytes.Clone(t.buf)
	}
	return slices.Concat(t.buf[:headBytes], []byte(" … "), t.buf[headBytes:])
}

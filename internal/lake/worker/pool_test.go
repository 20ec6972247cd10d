package worker_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/lake/worker"
)

// TestMain makes the test binary a worker, too.
func TestMain(m *testing.M) {
	if main := mains[strings.Join(os.Args[1:], " ")]; main != nil {
		if err := main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if folder := os.Getenv(serverEnv); folder != "" {
		serveUntilKilled(folder)
	}
	if os.Getenv("FEEDMILL_LONG") == "" {
		flag.Set("rapid.checks", "30") // every one of them asks a worker
	}
	goleak.VerifyTestMain(patient{m})
}

// patient gives goroutines that are about to end the time that they need on a busy
// machine, before those that are left count as leaked.
type patient struct{ *testing.M }

func (m patient) Run() int {
	code := m.M.Run()
	for end := time.Now().Add(time.Minute); goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

// mains are the workers that the test binary can be.
var mains = map[string]func() error{"worker": worker.Main, "free worker": worker.MainOfFree, "small sheets": worker.MainOfSmallSheets}

// pool is a pool of one worker over a folder of the test's own.
func pool(t testing.TB, change ...func(*lake.PoolConfig)) (*lake.Pool, string) {
	t.Helper()
	folder := t.TempDir()
	c := lake.PoolConfig{
		Args:    []string{"feedmill", "worker"},
		Workers: 1,
		Log:     slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&c)
	}
	p := lake.NewPool(c)
	t.Cleanup(p.Close)
	return p, folder
}

func ask(p *lake.Pool, sql string, args ...string) (string, error) {
	var out bytes.Buffer
	_, err := p.Run(context.Background(), wire.Request{SQL: sql, Args: args, Names: []string{"a"}, Format: wire.FormatNDJSON}, &out)
	return out.String(), err
}

// fresh reports whether the worker of a pool has not been asked this before.
func fresh(p *lake.Pool) bool {
	// What is made in a worker's memory goes with it.
	_, err := ask(p, "CREATE TABLE asked AS SELECT 1")
	return err == nil
}

// pid is the process of the only worker that there is.
func pid(t *testing.T, p *lake.Pool) int {
	t.Helper()
	if _, err := ask(p, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	pids := children(t)
	if len(pids) != 1 {
		t.Fatalf("%d children", len(pids))
	}
	return pids[0]
}

// children are the processes that this one has started.
func children(t *testing.T) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // of a thread that has ended
		}
		for _, text := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestQuery(t *testing.T) {
	p, _ := pool(t)
	got, err := ask(p, "SELECT CAST($1 AS BIGINT) + i FROM range(3) t(i)", "40")
	if err != nil || got != "{\"a\":40}\n{\"a\":41}\n{\"a\":42}\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFailureLeavesTheWorkerAlone(t *testing.T) {
	p, _ := pool(t)
	fresh(p)
	for _, sql := range []string{"SELEC", "SELECT nothing", "SELECT CAST('x' AS INTEGER)", "SELECT error('late') FROM range(100000) t(i) WHERE i = 99999"} {
		if got, err := ask(p, sql); err == nil || errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s gave %q, %v", sql, got, err)
		}
	}
	if fresh(p) {
		t.Error("the worker was replaced")
	}
}

func TestKilledWorkerFailsOneRequest(t *testing.T) {
	p, _ := pool(t)
	worker := pid(t, p)
	out := writerFunc(func(b []byte) (int, error) {
		return len(b), syscall.Kill(worker, syscall.SIGKILL)
	})
	_, err := p.Run(t.Context(), endless, out)
	if !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("the request of a killed worker: %v", err)
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("the next one: %q, %v", got, err)
	}
	// One that dies while it is idle is not missed at all.
	if err := syscall.Kill(pid(t, p), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("after the death of an idle worker: %q, %v", got, err)
	}
}

// endless is a query that gives rows for as long as somebody reads them.
var endless = wire.Request{
	SQL: "SELECT repeat('x', 1000) FROM range(1000000000000)", Names: []string{"a"}, Format: wire.FormatNDJSON,
}

func TestCancelledQueryEndsTheWorker(t *testing.T) {
	p, _ := pool(t)
	fresh(p)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("gone")
	_, err := p.Run(ctx, endless, writerFunc(func(b []byte) (int, error) {
		cancel(cause)
		return len(b), nil
	}))
	if !errors.Is(err, cause) {
		t.Error(err)
	}
	if !fresh(p) {
		t.Error("the worker of a cancelled query lives on")
	}
}

// A query that works for days and gives nothing to read ends with its time.
func TestDeadlineEndsTheWorker(t *testing.T) {
	p, _ := pool(t)
	if _, err := ask(p, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.Run(ctx, wire.Request{
		SQL:   "SELECT count(*) FROM range(1000000000) a(i), range(1000000) b(j) WHERE (i * j) % 7 = 8",
		Names: []string{"a"}, Format: wire.FormatNDJSON,
	}, io.Discard)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("the next one: %q, %v", got, err)
	}
}

func TestReaderThatGoesAway(t *testing.T) {
	p, _ := pool(t)
	gone := errors.New("gone")
	if _, err := p.Run(t.Context(), endless, writerFunc(func([]byte) (int, error) { return 0, gone })); !errors.Is(err, gone) {
		t.Error(err)
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("the next one: %q, %v", got, err)
	}
}

func TestMemory(t *testing.T) {
	p, _ := pool(t, func(c *lake.PoolConfig) { c.Memory = 64 << 20 })
	_, err := ask(p, "SELECT count(*) FROM (SELECT i, repeat('x', 100) || i AS s FROM range(20000000) t(i) ORDER BY s)")
	if !errors.Is(err, feedmill.ErrUnprocessable) {
		t.Errorf("a query that needs too much memory: %v", err)
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("the next one: %q, %v", got, err)
	}
}

// The operating system's limit holds where the database does not count.
func TestRunawayMemory(t *testing.T) {
	p, _ := pool(t, func(c *lake.PoolConfig) { c.Memory, c.AddressSpace = 256<<30, 3<<30 })
	if _, err := ask(p, "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	_, err := ask(p, "SELECT length(string_agg(repeat('x', 10000000) || i, '')) FROM range(1000) t(i)")
	if err == nil {
		t.Error("ten gigabytes fit into three")
	}
	if got, err := ask(p, "SELECT 1"); err != nil || got != "{\"a\":1}\n" {
		t.Errorf("the next one: %q, %v", got, err)
	}
}

func TestSpill(t *testing.T) {
	temp := t.TempDir()
	if err := os.Mkdir(filepath.Join(temp, "query-left"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, _ := pool(t, func(c *lake.PoolConfig) {
		c.Memory, c.Temp, c.TempBytes = 24<<20, temp, 1<<30
	})
	got, err := ask(p, "SELECT count(s) FROM (SELECT md5(i::VARCHAR) AS s FROM range(400000) t(i) ORDER BY s OFFSET 10)")
	if err != nil || got != "{\"a\":399990}\n" {
		t.Errorf("%q, %v", got, err)
	}
	p.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestSpillWithoutRoom holds that a worker that spills is stopped when the disk has no more
// room, and that one that does not spill goes on.
func TestSpillWithoutRoom(t *testing.T) {
	temp := t.TempDir()
	full := &feedmill.Error{Kind: feedmill.ErrNoRoom, Detail: "full"}
	p, _ := pool(t, func(c *lake.PoolConfig) {
		c.Memory, c.Temp, c.TempBytes = 24<<20, temp, 4<<30
		c.CheckDisk = func() error { return full }
	})
	if _, err := ask(p, "SELECT count(s) FROM (SELECT md5(i::VARCHAR) AS s FROM range(30000000) t(i) ORDER BY s OFFSET 10)"); !errors.Is(err, feedmill.ErrNoRoom) {
		t.Errorf("a query that spills: %v", err)
	}
	if _, err := ask(p, "SELECT count(DISTINCT i % 7) FROM range(40000000) t(i)"); err != nil {
		t.Errorf("a query that does not spill: %v", err)
	}
	p.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestRecycling(t *testing.T) {
	for name, change := range map[string]func(*lake.PoolConfig){
		"after queries":   func(c *lake.PoolConfig) { c.Queries = 1 },
		"of much memory":  func(c *lake.PoolConfig) { c.Held = 1 },
		"not without one": func(*lake.PoolConfig) {},
		"not for the pages of its program, which is larger": func(c *lake.PoolConfig) { c.Held = 64 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := pool(t, change)
			if !fresh(p) {
				t.Fatal("the first worker is not fresh")
			}
			if got, want := fresh(p), !strings.HasPrefix(name, "not "); got != want {
				t.Errorf("the second worker is fresh: %v, want %v", got, want)
			}
		})
	}
}

func TestClosedPool(t *testing.T) {
	p, _ := pool(t)
	started := make(chan struct{})
	var once sync.Once
	done := make(chan error)
	go func() {
		_, err := p.Run(context.Background(), endless, writerFunc(func(b []byte) (int, error) {
			once.Do(func() { close(started) })
			return len(b), nil
		}))
		done <- err
	}()
	<-started
	p.Close()
	if err := <-done; !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := ask(p, "SELECT 1"); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Error(err)
	}
}

func TestProgramThatIsNoWorker(t *testing.T) {
	for _, program := range []string{"/bin/false", "/nowhere/feedmill"} {
		p, _ := pool(t, func(c *lake.PoolConfig) { c.Program = program })
		if _, err := ask(p, "SELECT 1"); !errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// TestWorkersAreStartedAgain has workers end while they start, as they do where memory is short for a moment.
func TestWorkersAreStartedAgain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	starts := filepath.Join(t.TempDir(), "starts")
	program := filepath.Join(t.TempDir(), "program")
	script := fmt.Sprintf("#!/bin/sh\necho >> %[1]s\n[ $(wc -l < %[1]s) -gt 2 ] || { echo because of this >&2; yes | head -c 5000 >&2; exit 2; }\nexec %[2]s worker\n", starts, self)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	log := make(said, 100)
	p, _ := pool(t, func(c *lake.PoolConfig) { c.Program, c.Log = program, slog.New(log) })
	if _, err := ask(p, "SELECT 1"); err != nil {
		t.Error(err)
	}
	if got := len(log); got < 2 {
		t.Errorf("%d failures were logged", got)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var _ io.Writer = writerFunc(nil)

// serverEnv is set for a process that runs a query without end, says which
// process its worker is, and waits to be killed.
const serverEnv = "LAKE_TEST_SERVER"

func serveUntilKilled(folder string) {
	p := lake.NewPool(lake.PoolConfig{Args: []string{"feedmill", "worker"}, Temp: folder})
	_, err := p.Run(context.Background(), endless, writerFunc(func([]byte) (int, error) {
		files, err := filepath.Glob("/proc/self/task/*/children")
		if err != nil {
			return 0, err
		}
		var children strings.Builder
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return 0, err
			}
			children.Write(b)
		}
		fmt.Println(strings.TrimSpace(children.String()))
		select {}
	}))
	fmt.Println("it ended:", err)
	os.Exit(1)
}

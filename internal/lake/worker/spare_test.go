package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/share"
)

// said is sent what is logged.
type said chan string

func (said) Enabled(context.Context, slog.Level) bool        { return true }
func (s said) WithAttrs([]slog.Attr) slog.Handler            { return s }
func (s said) WithGroup(string) slog.Handler                 { return s }
func (s said) Handle(_ context.Context, r slog.Record) error { s <- r.Message; return nil }

// TestSetBack holds the worker of somebody who uses much while others are at work to
// have less of the processors than the others have.
func TestSetBack(t *testing.T) {
	p, _ := pool(t, func(c *lake.PoolConfig) { c.Workers, c.SpareAfter, c.LoadTime = 2, 1, 1 })
	gone := errors.New("gone")
	end := time.Now().Add(time.Minute)
	_, err := p.Run(share.For(t.Context(), "a"), endless, writerFunc(func(b []byte) (int, error) {
		share.For(t.Context(), "b")
		share.For(t.Context(), "a") // they are still there
		if setBack, others := priorities(t); setBack == 1 && others == 1 || time.Now().After(end) {
			return 0, gone
		}
		return len(b), nil
	}))
	if !errors.Is(err, gone) || time.Now().After(end) {
		t.Fatal("no worker is set back", err)
	}
}

// priorities counts the children of which all threads have less of the processors than
// this process, and of which none has.
func priorities(t *testing.T) (setBack, others int) {
	own := nice(t, 0)
	for _, pid := range children(t) {
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			t.Fatal(err)
		}
		lower := 0
		for _, thread := range threads {
			if id, _ := strconv.Atoi(thread.Name()); nice(t, id) == own+10 {
				lower++
			}
		}
		switch lower {
		case 0:
			others++
		case len(threads):
			setBack++
		}
	}
	return setBack, others
}

// nice is the priority of a thread as nice(1) counts, 0 for this one.
func nice(t *testing.T, thread int) int {
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread)
	if err != nil && !errors.Is(err, syscall.ESRCH) { // it has ended meanwhile
		t.Fatal(err)
	}
	return 20 - n
}

// TestSpare holds a worker to be ready for who comes next, and not for one whose queries
// end workers: no more can be started here once it is.
func TestSpare(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	log := make(said, 100)
	p, _ := pool(t, func(c *lake.PoolConfig) {
		c.Workers, c.Program, c.SpareAfter, c.LoadTime, c.Log = 3, program, 1, time.Hour, slog.New(log)
	})
	run := func(holder string, request wire.Request, out io.Writer) error {
		_, err := p.Run(share.For(t.Context(), holder), request, out)
		return err
	}
	one := wire.Request{SQL: "SELECT 1", Names: []string{"a"}, Format: wire.FormatNDJSON}
	if err := run("a", one, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := <-log; got != "spare worker started" {
		t.Fatal(got)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	if err := run("a", endless, writerFunc(func([]byte) (int, error) { return 0, gone })); !errors.Is(err, gone) {
		t.Fatal(err)
	}
	if err := run("a", one, io.Discard); !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("who has ended a worker has the last one that is ready: %v", err)
	}
	if err := run("b", one, io.Discard); err != nil {
		t.Errorf("no worker is ready for another: %v", err)
	}
}

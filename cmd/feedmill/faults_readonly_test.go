package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// TestReadOnly makes the database read-only under a running server: what changes
// something is refused, reading goes on, and so does all else afterwards,
// without a restart.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		provable(t, folder)
		data := filepath.Join(folder, "data")
		// As a file system is that has met an error. The index of the WAL is
		// left alone: it is memory that is shared through a file, and the
		// kernel ends a process that it cannot give a page of it.
		files := []string{data, filepath.Join(data, "feedmill.db"), filepath.Join(data, "feedmill.db-wal")}
		readOnly(t, data, onLoopback, func(on bool) { immutable(t, files, on) })

		immutable(t, files[:2], true)
		if text := refused(t, data, onLoopback...); strings.Contains(text, "panic") {
			t.Errorf("a start on a read-only database says\n%s", text)
		}
		immutable(t, files[:2], false)
		serve(t, data, onLoopback...).mustStop(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		// As a server is that has become a standby.
		database := pgtest.Start(t, pgtest.Options{})
		env := append(onPostgres(database.NewDatabase(t)), onLoopback...)
		readOnly(t, t.TempDir(), env, func(on bool) {
			value := map[bool]string{true: "on", false: "off"}[on]
			if err := changeDatabase(t.Context(), database.URL(),
				"ALTER SYSTEM SET default_transaction_read_only = "+value, "SELECT pg_reload_conf()"); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// readOnly publishes while the database is made read-only and writable in turn.
func readOnly(t *testing.T, data string, env []string, set func(on bool)) {
	book := newLedger()
	sink := book.sink(t)
	p := serve(t, data, env...)
	book.subscribe(t, p, sink)
	stop := book.publish(t, "1")
	defer func() { stop() }()
	for range 3 {
		book.awaitAcknowledged(t, 100)
		set(true)
		book.awaitRefused(t, 100)
		for _, path := range []string{"/healthz", "/readyz", "/events", "/keys"} {
			if got := p.status(path); got != 200 {
				t.Errorf("read-only: GET %s answers %d", path, got)
			}
		}
		set(false)
	}
	book.awaitAcknowledged(t, 100)
	stop()
	stop = func() {}
	n, twice := book.awaitAll(t)
	t.Logf("%d events acknowledged, %d deliveries came twice", n, twice)
	p.mustStop(t)
}

// immutable makes files immutable, or lets go of them.
func immutable(t *testing.T, files []string, on bool) {
	t.Helper()
	flag := map[bool]string{true: "+i", false: "-i"}
	if text, err := exec.Command("chattr", append([]string{flag[on]}, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("chattr: %v\n%s", err, text)
	}
	if on {
		// Nothing that is left immutable could be removed.
		t.Cleanup(func() { exec.Command("chattr", append([]string{"-i"}, files...)...).Run() })
	}
}

// provable ends the test where an immutable file can be written by whoever has
// it open, or none can be made.
func provable(t *testing.T, folder string) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := exec.Command("chattr", "+i", f.Name()).CombinedOutput(); err != nil {
		cannot(t, "files cannot be made immutable: %v: %s", err, text)
	}
	_, err = io.WriteString(f, "x")
	exec.Command("chattr", "-i", f.Name()).Run()
	if !errors.Is(err, fs.ErrPermission) {
		cannot(t, "files of this file system that are open stay writable (%v)", err)
	}
}

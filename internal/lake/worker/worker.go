// Package worker is the process that DuckDB and SQLite run in.
//
// [Run] answers requests that come through a socket, one at a time, until the
// socket ends. The process may read the files below one folder, write what does not
// fit into memory to another, and nothing else: the kernel holds it to that where it
// has Landlock (cage_linux.c), the database is told so, and locked, before the first request, and the
// operating system limits how much memory and how many files there can be. What
// goes wrong in C++ on data that strangers uploaded goes wrong here, and the
// server starts another worker.
//
// Rows are rendered here, from DuckDB's memory, without a Go value for each:
// json.go, csv.go, arrow.go, parquet.go and xlsx.go. No other package imports DuckDB.
package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/lake/worker/sqlite"
)

// Run serves requests from the connection until it ends, which is no error.
func Run(conn io.ReadWriter) error { return run(conn, openEngine) }

func run(conn io.ReadWriter, open func(wire.Hello) (engine, error)) error {
	done := make(chan struct{})
	defer close(done)
	frames := read(conn, done)
	var hello wire.Hello
	f, ok := <-frames
	if !ok || errors.Is(f.err, io.EOF) {
		return nil
	}
	if err := json.Unmarshal(f.body, &hello); err != nil || f.kind != wire.KindHello {
		return fmt.Errorf("worker: begin with a frame of kind %q: %w", f.kind, err)
	}
	hello.Process *= memoryFactor
	if err := confine(hello); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	e, err := open(hello)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer e.close()
	if err := confineData(hello); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if err := wire.Write(conn, wire.KindReady, nil); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	for f := range frames {
		if errors.Is(f.err, io.EOF) {
			return nil
		}
		if f.err != nil {
			return fmt.Errorf("worker: %w", f.err)
		}
		var request wire.Request
		if err := json.Unmarshal(f.body, &request); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		if err := wire.Write(conn, wire.KindReady, nil); err != nil {
			return fmt.Errorf("worker: %w", err)
		}
		stop := watchMemory(hello.Process)
		err := serve(e, conn, request)
		stop()
		if err != nil {
			return fmt.Errorf("worker: %w", err)
		}
	}
	return nil
}

// engine is the library that runs the requests of a worker.
type engine interface {
	// answer sends the rows of a request.
	answer(out *sender, request wire.Request) (wire.End, error)
	close()
}

func openEngine(hello wire.Hello) (engine, error) {
	if hello.Engine == wire.EngineSQLite {
		return sqliteFile{sqlite.Open(hello.Database, hello.Memory)}, nil
	}
	// What is rendered passes through the collector, which would let it double.
	if hello.Process > hello.Memory {
		debug.SetMemoryLimit((hello.Process - hello.Memory) / 2)
	}
	return open(hello)
}

// sqliteFile is the engine of a file of SQLite.
type sqliteFile struct{ *sqlite.File }

func (f sqliteFile) answer(out *sender, request wire.Request) (end wire.End, err error) {
	end.Rows, err = f.Select(request, out.pass)
	return end, err
}

// close does nothing: the file is open for one statement at a time.
func (sqliteFile) close() {}

type frame struct {
	kind wire.Kind
	body []byte
	err  error
}

// read reads frames while a query runs, too: the end of the socket is how a
// worker learns that nobody waits for it any more. It then ends at once, with
// the query and all.
func read(conn io.Reader, done <-chan struct{}) <-chan frame {
	frames := make(chan frame)
	go func() {
		defer close(frames)
		for {
			kind, body, err := wire.Read(conn, nil)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				select {
				case frames <- frame{err: io.EOF}:
				case <-done:
				default:
					os.Exit(0)
				}
				return
			}
			select {
			case frames <- frame{kind, body, err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return frames
}

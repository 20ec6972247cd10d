// Package duck runs DuckDB, the baseline of the benchmarks of feeds, in a
// process of its own: with nothing before it and nothing after it.
//
// A benchmark gives [Role] to rig.Main, and [Start] starts the process.
package duck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// Threads is how many threads DuckDB has.
const Threads = 2

// Role is what the process does.
var Role = rig.Role{Name: "duckdb", Run: serve}

// Result is what became of a statement.
type Result struct {
	// Rows is how many it gave, and First the first of them, if it is all
	// numbers of 64 bits.
	Rows  int64
	First []uint64
	// Wall is from the text of the statement to its last row, and CPU what all
	// threads have worked meanwhile. Peak is the largest that the process has
	// been, in bytes.
	Wall, CPU time.Duration
	Peak      int
	Error     string `json:",omitempty"`
}

// serve runs the statements that it is sent.
func serve(args []string) error {
	threads, err := strconv.Atoi(strings.Join(args, ""))
	if err != nil {
		return fmt.Errorf("threads: %w", err)
	}
	db, err := open(threads)
	if err != nil {
		return err
	}
	defer db.close()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var sql string
		if err := in.Decode(&sql); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // the benchmark needs it no more
			}
			return err
		}
		r, err := db.run(sql)
		if err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// DuckDB is one that runs.
type DuckDB struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// Start starts an empty DuckDB.
func Start() (*DuckDB, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, Role.Name, strconv.Itoa(Threads))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	return &DuckDB{cmd: cmd, in: in, out: json.NewDecoder(out)}, nil
}

// Run runs a statement.
func (d *DuckDB) Run(sql string) (r Result, err error) {
	if err := json.NewEncoder(d.in).Encode(sql); err != nil {
		return r, fmt.Errorf("DuckDB: %w", err)
	}
	if err := d.out.Decode(&r); err != nil {
		return r, fmt.Errorf("DuckDB: %w", err)
	}
	if r.Error != "" {
		return r, fmt.Errorf("DuckDB: %s: %s", sql, r.Error)
	}
	return r, nil
}

// Close ends it.
func (d *DuckDB) Close() error { return errors.Join(d.in.Close(), d.cmd.Wait()) }

// Once runs a statement in a DuckDB that is started for it alone.
func Once(sql string) (r Result, err error) {
	d, err := Start()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Run(sql)
}

// Quote is a text as SQL has it.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

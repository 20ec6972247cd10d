// Package rig is what the benchmarks of the whole program share: it builds and starts
// Feedmill, gives it a store and a sink, and reads the machine's meters.
//
// A benchmark calls [Main] with what it measures. [New] makes a [Rig], from
// which come as many Feedmills as it needs, each with an empty store of its own.
// The sink is a process of its own, as subscribers are; so is the raw client
// that measures [Ceiling], the rate to which others are compared. All of
// it stays on the loopback interface and is stopped at the end, also by Ctrl-C.
package rig

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The first argument of the processes that a benchmark starts from itself.
const (
	asSink = "sink"
	asRaw  = "raw"
)

// Role is something that a process does which a benchmark starts from itself:
// it has the name as its first argument.
type Role struct {
	Name string
	Run  func(args []string) error
}

// Main is the main function of a benchmark that has roles of its own besides
// those that all have.
func Main(bench func(context.Context) error, roles ...Role) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == asSink:
		err = runSink(os.Args[2:]...)
	case len(os.Args) > 2 && os.Args[1] == asRaw:
		err = runRaw(os.Args[2])
	case len(os.Args) > 1 && slices.ContainsFunc(roles, isAsked):
		err = roles[slices.IndexFunc(roles, isAsked)].Run(os.Args[2:])
	default:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second Ctrl-C ends it at once
		err = bench(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func isAsked(r Role) bool { return r.Name == os.Args[1] }

// Options say what to measure.
type Options struct {
	// Feedmill is the program; it is built from this tree where empty.
	Feedmill string
	// Store is sqlite or postgres.
	Store string
	// Database is a PostgreSQL server to use instead of a private one. A
	// database is made on it for each Feedmill and dropped afterwards.
	Database string
	// Quiet leaves out what New prints.
	Quiet bool
}

// Flags defines the flags of the options.
func (o *Options) Flags() {
	flag.StringVar(&o.Feedmill, "feedmill", "", "the program to measure; built from this tree where empty")
	flag.StringVar(&o.Store, "store", "sqlite", "sqlite or postgres, for which a private server is started")
	flag.StringVar(&o.Database, "database", "", "postgres://… of a server to use instead of a private one")
}

// Chosen reports whether a figure is to be measured: its name holds one of the
// texts in only, which are separated by commas, or there are none.
func Chosen(only, name string) bool {
	return slices.ContainsFunc(strings.Split(only, ","), func(part string) bool { return strings.Contains(name, part) })
}

// Rig is where benchmarks run.
type Rig struct {
	Options
	// Log is where Feedmills log to, nil for standard error.
	Log    *os.File
	folder string
	server *server
	// source is the server of a database that is measured itself.
	source *server
	// feedmills counts those that were started.
	feedmills int
}

// New makes a rig and prints what the figures depend on.
func New(ctx context.Context, o Options) (*Rig, error) {
	if o.Database != "" {
		o.Store = "postgres"
	}
	if o.Store != "sqlite" && o.Store != "postgres" {
		return nil, fmt.Errorf("-store %s: it is sqlite or postgres", o.Store)
	}
	folder, err := os.MkdirTemp("", "feedmill-bench-")
	if err != nil {
		return nil, err
	}
	r := &Rig{Options: o, folder: folder}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Rig) prepare(ctx context.Context) (err error) {
	if r.Feedmill == "" {
		if r.Feedmill, err = r.Build(ctx, "feedmill"); err != nil {
			return err
		}
	}
	if r.Store == "postgres" {
		if r.server, err = newServer(ctx, r.Database); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	sync, err := fsyncTime(r.folder)
	if err != nil {
		return err
	}
	if r.Quiet {
		return nil
	}
	fmt.Printf("store %s, %d cores, fsync %v\n", r.Store, runtime.NumCPU(), sync)
	return nil
}

// Folder is where a benchmark puts its files; it is removed with the rig.
func (r *Rig) Folder() string { return r.folder }

// DatabaseTime is what the private PostgreSQL server has used of the processors so far; zero where
// there is none.
func (r *Rig) DatabaseTime() time.Duration {
	if r.server == nil || r.server.process == nil {
		return 0
	}
	return r.server.process.CPUTime()
}

// LinkerFlags are those of `make build`, so that benchmarks measure the program that is shipped:
// the pages of a program that are in memory count in its memory.
func LinkerFlags() string {
	if runtime.GOOS == "linux" {
		return "-ldflags=-s -w -extldflags=-Wl,--no-export-dynamic,--gc-sections"
	}
	return "-ldflags=-s -w"
}

// CompilerFlags are those of `make build`, as an environment variable.
const CompilerFlags = "CGO_CFLAGS=-O2 -g -DHAVE_FDATASYNC=1"

// Build builds the program from this tree, under a name and with build tags.
func (r *Rig) Build(ctx context.Context, name string, tags ...string) (string, error) {
	program := filepath.Join(r.folder, name)
	args := []string{"build", "-trimpath", LinkerFlags(), "-o", program}
	for _, tag := range tags {
		args = append(args, "-tags", tag)
	}
	build := exec.CommandContext(ctx, "go", append(args, "github.com/feedmill/feedmill/cmd/feedmill")...)
	build.Env = append(os.Environ(), CompilerFlags)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building feedmill: %w", err)
	}
	return program, nil
}

// Close stops what the rig has started and removes its files.
func (r *Rig) Close() error {
	var err error
	if r.server != nil {
		err = r.server.close()
	}
	if r.source != nil {
		err = errors.Join(err, r.source.close())
	}
	return errors.Join(err, os.RemoveAll(r.folder))
}

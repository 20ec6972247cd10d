package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL server.
type server struct {
	url *url.URL
	// What follows is zero for a server that is not ours.
	process *process
	folder  string
}

// newServer returns the server at a URL, or else starts a private one with
// PostgreSQL's default settings, so that a commit is on disk.
func newServer(ctx context.Context, at string) (*server, error) {
	if at != "" {
		u, err := url.Parse(at)
		return &server{url: u}, err
	}
	s := &server{}
	if err := s.launch(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *server) launch(ctx context.Context) error {
	programs, err := programFolder()
	if err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "feedmill-bench-postgres-"); err != nil {
		return err
	}
	identity, err := unprivileged(s.folder)
	if err != nil {
		return err
	}
	data := filepath.Join(s.folder, "data")
	run := func(ctx context.Context, program string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(programs, program), args...)
		cmd.Dir = s.folder
		// The variables that PostgreSQL's programs read would lead them astray.
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: identity}
		return cmd
	}
	initdb := run(ctx, "initdb", "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale")
	if said, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.url = &url.URL{Scheme: "postgres", User: url.User("postgres"), Host: "127.0.0.1:" + port, Path: "postgres", RawQuery: "sslmode=disable"}
	// It is stopped by close, after what uses it, and not by the context.
	cmd := run(context.WithoutCancel(ctx), "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.process = &process{cmd: cmd}
	return s.awaitReady(ctx)
}

// awaitReady waits until the server takes connections.
func (s *server) awaitReady(ctx context.Context) (err error) {
	for range 300 {
		if err = s.exec(ctx, `SELECT 1`); err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	said, _ := os.ReadFile(filepath.Join(s.folder, "log"))
	return fmt.Errorf("it does not start: %w: %s", err, said)
}

// SourceDatabase makes an empty database on a private server, to read from, and
// returns its URL.
func (r *Rig) SourceDatabase(ctx context.Context) (url string, err error) {
	if r.source == nil {
		if r.source, err = newServer(ctx, ""); err != nil {
			return "", fmt.Errorf("PostgreSQL: %w", err)
		}
	}
	return r.source.create(ctx, "source")
}

// create makes an empty database and returns its URL.
func (s *server) create(ctx context.Context, name string) (string, error) {
	if err := s.exec(ctx, `CREATE DATABASE `+ours(name)+` TEMPLATE template0`); err != nil {
		return "", fmt.Errorf("making a database: %w", err)
	}
	u := *s.url
	u.Path = ours(name)
	return u.String(), nil
}

// drop removes a database that create has made.
func (s *server) drop(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	return s.exec(ctx, `DROP DATABASE IF EXISTS `+ours(name)+` WITH (FORCE)`)
}

// ours is the full name of a database, on a server that others may use, too.
func ours(name string) string { return fmt.Sprintf("feedmill_%s_%d", name, os.Getpid()) }

func (s *server) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// close stops and removes a private server.
func (s *server) close() error {
	if s.process != nil {
		s.process.stop(os.Interrupt) // ends all sessions and shuts down in order
	}
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}

// programFolder is where the server's programs are: Debian keeps those of each
// version in a folder outside the search path.
func programFolder() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	version := func(program string) float64 {
		v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(program))), 64)
		return v
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })), nil
	}
	program, err := exec.LookPath("postgres")
	if err != nil {
		return "", fmt.Errorf("the server's programs are not installed: %w", err)
	}
	program, err = filepath.EvalSymlinks(program)
	return filepath.Dir(program), err
}

// unprivileged hands the folder to the identity that the server must have:
// PostgreSQL refuses to run as root. Otherwise it is the caller's.
func unprivileged(folder string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root cannot run it: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(folder, uid, gid)
}

// freePort returns a port of the loopback interface that nobody listens at.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

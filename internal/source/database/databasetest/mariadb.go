package databasetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// MariaDB is a private server on the loopback interface, whose user is root
// without a password.
type MariaDB struct {
	Port   int
	folder string
	// command is the program with its options, and as who runs it.
	command []string
	as      *syscall.SysProcAttr
	server  *exec.Cmd
	ended   chan struct{}
}

// errNoMariaDB says that this machine has no server to start.
var errNoMariaDB = errors.New("mariadbd or mariadb-install-db is not installed")

// StartMariaDB starts a server in a folder of its own. Options are those of
// mariadbd.
func StartMariaDB(options ...string) (_ *MariaDB, err error) {
	server, err1 := exec.LookPath("mariadbd")
	if err1 != nil {
		server, err1 = exec.LookPath("/usr/sbin/mariadbd") // which only root has in the search path
	}
	install, err2 := exec.LookPath("mariadb-install-db")
	if errors.Join(err1, err2) != nil {
		return nil, errNoMariaDB
	}
	folder, err := os.MkdirTemp("", "mariadb-")
	if err != nil {
		return nil, err
	}
	m := &MariaDB{folder: folder}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	as := unprivileged(folder)
	data := filepath.Join(folder, "data")
	made := exec.Command(install, "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db", "--tmpdir="+folder)
	made.SysProcAttr = as
	if out, err := made.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	m.as = as
	m.Port = freePort()
	m.command = append([]string{
		server, "--no-defaults", "--datadir=" + data, "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(m.Port), "--socket=" + filepath.Join(folder, "s"),
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--skip-log-bin", "--pid-file=" + filepath.Join(folder, "pid"), "--tmpdir=" + folder,
		"--character-set-server=latin1", "--general-log-file=" + m.Log(), "--default-time-zone=+03:00",
	}, options...)
	return m, m.Start()
}

// freePort returns a port that nobody listens at. It lies below those that systems
// hand out by themselves, so that nobody else is given it before the server has it,
// nor while the server is down.
func freePort() int {
	for range 1000 {
		port := 10_000 + rand.IntN(5000)
		if free, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			free.Close()
			return port
		}
	}
	return 10_000
}

// Start starts the server again, after its end, with the data that it had.
func (m *MariaDB) Start() error {
	m.server = exec.Command(m.command[0], m.command[1:]...)
	m.server.SysProcAttr = m.as
	var said bytes.Buffer
	m.server.Stderr = &said
	if err := m.server.Start(); err != nil {
		return err
	}
	m.ended = make(chan struct{})
	go func() {
		_ = m.server.Wait()
		close(m.ended)
	}()
	for {
		conn, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(m.Port)))
		if err == nil {
			conn.Close()
			return nil
		}
		select {
		case <-m.ended:
			return fmt.Errorf("mariadbd ended: %s", said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Log is the file of the general log, where it is on.
func (m *MariaDB) Log() string { return filepath.Join(m.folder, "general.log") }

// Kill ends the server at once.
func (m *MariaDB) Kill() {
	if m.server != nil && m.server.Process != nil {
		_ = m.server.Process.Kill()
		<-m.ended
	}
}

// Close ends the server and removes its folder.
func (m *MariaDB) Close() {
	m.Kill()
	_ = os.RemoveAll(m.folder)
}

// unprivileged is who runs the server, which refuses to be root, and gives the
// folder to it. The server ends with the test, however that ends.
func unprivileged(folder string) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		return attributes
	}
	for _, name := range []string{"mysql", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		_ = os.Chown(folder, uid, gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		break
	}
	return attributes
}

// NeedMariaDB gives up a test that has no server. Only a machine without MariaDB
// is an excuse, and none where everything is meant to be tested.
func NeedMariaDB(t testing.TB, m *MariaDB, err error) *MariaDB {
	t.Helper()
	if errors.Is(err, errNoMariaDB) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

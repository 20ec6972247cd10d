package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// childVariable tells a copy of this test binary that it is the one whose end
// is the test.
const childVariable = "PGTEST_CHILD"

func TestNothingOutlivesTheTestBinary(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		beChild(t)
		return
	}
	if _, err := findPrograms(debianFolders); err != nil {
		giveUp(t, err)
	}
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"killed":  func(child *exec.Cmd, _ io.Closer) error { return child.Process.Kill() },
		"regular": func(_ *exec.Cmd, orders io.Closer) error { return orders.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The child and every process that comes of it inherit the
			// writing end: it is closed when the last of them is gone.
			alive, inherited, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer alive.Close()
			child := exec.Command(os.Args[0], "-test.run=^TestNothingOutlivesTheTestBinary$")
			child.Env = append(os.Environ(), childVariable+"=1")
			child.ExtraFiles = []*os.File{inherited}
			orders, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			inherited.Close()

			folder, url := readServer(t, output)
			if _, err := os.Stat(folder); err != nil {
				t.Fatalf("the running server's folder: %v", err)
			}
			if err := end(child, orders); err != nil {
				t.Fatal(err)
			}
			// Where the watchdog does its work the limit is never met.
			alive.SetReadDeadline(time.Now().Add(2 * time.Minute))
			if _, err := io.ReadAll(alive); err != nil {
				t.Fatalf("processes are left: %v", err)
			}
			child.Wait()
			if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder %s is left (%v)", folder, err)
			}
			if _, err := pgx.Connect(t.Context(), url); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("connecting afterwards: %v, want that nobody listens", err)
			}
		})
	}
}

// beChild starts the shared server, tells its parent and waits for its end.
func beChild(t *testing.T) {
	url := New(t)
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("server %s %s\n", s.watchdog.folder, url)
	io.Copy(io.Discard, os.Stdin)
}

func readServer(t *testing.T, output io.Reader) (folder, url string) {
	t.Helper()
	var said strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "server %s %s", &folder, &url); err == nil {
			return folder, url
		}
		said.WriteString(lines.Text() + "\n")
	}
	t.Fatalf("the child started no server:\n%s", said.String())
	return "", ""
}

func TestFailuresAreTold(t *testing.T) {
	programs, err := findPrograms(debianFolders)
	if err != nil {
		giveUp(t, err)
	}
	if _, err := startWatchdog(programs, t.TempDir()+"/missing", nil); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a server in a folder that does not exist: %v", err)
	}
	if _, err := launch(Options{Settings: map[string]string{"no_such_setting": "on"}}); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a server with an unknown setting: %v", err)
	}
}

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// disk is a small file system that only the processes in it see. It goes with
// the process that holds it, however the tests end.
type disk struct {
	holder *exec.Cmd
	folder string
	link   string
}

// newDisk mounts a file system in memory, of a size as mount understands it,
// in a mount namespace of its own.
func newDisk(t *testing.T, size string) *disk {
	t.Helper()
	d := &disk{folder: t.TempDir(), link: filepath.Join(t.TempDir(), program)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Behind a wrapper the name of the program is that of its file.
	if err := os.Symlink(self, d.link); err != nil {
		t.Fatal(err)
	}
	d.holder = exec.Command("sh", "-c", `mount -t tmpfs -o size="$1" tmpfs "$2" && echo mounted && exec cat`, "sh", size, d.folder)
	d.holder.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		d.holder.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	leash, err := d.holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := d.holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	d.holder.Stderr = &complaint
	if err := d.holder.Start(); err != nil {
		cannot(t, "a mount namespace cannot be made: %v", err)
	}
	t.Cleanup(func() {
		leash.Close()
		d.holder.Wait()
	})
	if line, _ := bufio.NewReader(said).ReadString('\n'); line != "mounted\n" {
		leash.Close()
		d.holder.Wait() // so that the complaint is whole, and nobody writes it any more
		cannot(t, "a file system cannot be mounted: %s", &complaint)
	}
	return d
}

// cannot ends a test that this machine does not allow, which is no excuse where
// everything is meant to be tested.
func cannot(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// path is where this process finds a file of the disk.
func (d *disk) path(name string) string {
	return filepath.Join("/proc", strconv.Itoa(d.holder.Process.Pid), "root", d.folder, name)
}

// serve starts a server whose data is on the disk.
func (d *disk) serve(t *testing.T, env ...string) *process {
	t.Helper()
	cmd, err := command(t.Context(), t.TempDir(), append(env, leashEnv+"=1"), "serve", "--listen=127.0.0.1:0", "--data="+filepath.Join(d.folder, "data"))
	if err != nil {
		t.Fatal(err)
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		cannot(t, "%v", err)
	}
	args := []string{"nsenter", "--target=" + strconv.Itoa(d.holder.Process.Pid), "--mount"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--preserve-credentials")
	}
	cmd.Path, cmd.Args = nsenter, append(append(args, d.link), cmd.Args[1:]...)
	p, err := start(cmd)
	return p.until(t, err)
}

// fill takes all the room that is left.
func (d *disk) fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(d.path("filler"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		_, err := f.Write(block)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			t.Fatal(err)
		}
	}
}

// free gives it back.
func (d *disk) free(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.path("filler")); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull fills the disk while events are published. They are refused for
// as long as there is no room, those that were acknowledged are kept, reading
// goes on, and when there is room again so does all else, without a restart.
// A server that is killed while the disk is full loses nothing either, and can
// be started on it.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "48m")
	book := newLedger()
	sink := book.sink(t)
	p := d.serve(t, onLoopback...)
	book.subscribe(t, p, sink)
	stop := book.publish(t, strings.Repeat("x", 2<<10))
	defer func() { stop() }()

	for range 3 {
		book.awaitAcknowledged(t, 100)
		d.fill(t)
		book.awaitRefused(t, 100)
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/events": 200, "/events/subscriptions": 200, "/keys": 200, "/metrics": 200} {
			if got := p.status(path); got != want {
				t.Errorf("on a full disk GET %s answers %d, want %d", path, got, want)
			}
		}
		d.free(t)
	}
	book.awaitAcknowledged(t, 100)

	d.fill(t)
	book.awaitRefused(t, 10)
	p.kill()
	p = d.serve(t, onLoopback...)
	book.to.Store(&p.url)
	book.awaitRefused(t, 10)
	d.free(t)
	book.awaitAcknowledged(t, 100)
	stop()
	stop = func() {}
	n, twice := book.awaitAll(t)
	_, refused := book.counts()
	t.Logf("%d events acknowledged and %d refused, %d deliveries came twice", n, refused, twice)
	p.mustStop(t)
}

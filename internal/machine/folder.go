package machine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is the data folder, held for this process alone. The lock is the
// kernel's and goes with the process, however it ends.
type Folder struct{ lock *os.File }

// ErrInUse says that the data folder is another process's.
var ErrInUse = errors.New("another feedmill is running on it")

// LockFolder holds a data folder for this process, and makes it where it is not there.
func LockFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := checkFolder(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Folder{f}, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("data folder %s: %w; stop that one, or name another folder with --data", path, ErrInUse)
	}
	return nil, fmt.Errorf("data folder: locking %s: %w", path, err)
}

// checkFolder refuses a folder that everybody on the machine can write to:
// whoever can replace its files has the records, and with them every workspace.
// Those of its group may, as some platforms give a volume to one.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o002 != 0 {
		return fmt.Errorf("data folder %s has mode %04o: everybody on this machine can write to it; run chmod o-w on it, and look whether its files are yours", path, perm)
	}
	return nil
}

// Holder is a name that only a process with the lock of this folder can have: that of the
// replica, with the boot of the kernel and the file that is locked. A copy of the folder
// has another holder, and so has the folder after the machine has restarted.
func (f *Folder) Holder(replica string) (string, error) {
	info, err := f.lock.Stat()
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("boot of the kernel: %w", err)
	}
	at, _ := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%s %s %d:%d", replica, strings.TrimSpace(string(boot)), at.Dev, at.Ino), nil
}

// Unlock gives the folder up.
func (f *Folder) Unlock() error { return f.lock.Close() }

// ReplicaName is the name under which this process leases work. It stays with
// the folder: whoever holds the folder's lock knows that the one before is gone,
// and goes on with its leases at once instead of waiting for their end.
func ReplicaName(path string) (string, error) {
	file := filepath.Join(path, "replica")
	name, err := os.ReadFile(file)
	if err == nil && len(name) > 0 {
		return string(name), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("data folder: %w", err)
	}
	fresh := rand.Text()
	if err := os.WriteFile(file, []byte(fresh), 0o600); err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	return fresh, nil
}

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

// Folder is the data folder, locked by this process. The kernel releases the lock when the
// process ends, however it ends.
type Folder struct{ lock *os.File }

// ErrInUse reports that another process has locked the data folder.
var ErrInUse = errors.New("another feedmill process is using it")

// LockFolder locks a data folder for this process. It creates the folder if needed.
func LockFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := CheckFolder(path); err != nil {
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
		return nil, fmt.Errorf("data folder %s: %w; stop that process, or set another folder with --data", path, ErrInUse)
	}
	return nil, fmt.Errorf("data folder: locking %s: %w", path, err)
}

// CheckFolder refuses a folder that is writable by all users: a user that can replace its
// files controls every workspace. Its group can write, because some platforms assign
// volumes to a group.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o002 != 0 {
		return fmt.Errorf("data folder %s has mode %04o: every user of this machine can write to it; run chmod o-w on it, and check that its files are yours", path, perm)
	}
	return nil
}

// Holder returns a name that only a process with the lock of this folder can have: the
// replica's name with the kernel's boot id and the identity of the lock file. A copy of the
// folder has another holder, and so has the folder after a reboot.
func (f *Folder) Holder(replica string) (string, error) {
	info, err := f.lock.Stat()
	if err != nil {
		return "", fmt.Errorf("data folder: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the kernel's boot ID: %w", err)
	}
	at, _ := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%s %s %d:%d", replica, strings.TrimSpace(string(boot)), at.Dev, at.Ino), nil
}

// Unlock releases the folder.
func (f *Folder) Unlock() error { return f.lock.Close() }

// ReplicaName returns the name under which this process leases work. It is stored in the
// folder: a process that holds the folder's lock knows that the previous one is gone, and
// takes over its leases immediately.
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

// SyncFolder waits until the names in a folder are on disk.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

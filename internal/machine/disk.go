package machine

import "syscall"

// FreeDisk is how many bytes of a folder's disk are free for this process.
func FreeDisk(folder string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

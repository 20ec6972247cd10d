package machine

import (
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// FreeDisk returns the number of bytes on a folder's disk that this process can use.
func FreeDisk(folder string) (int64, error) {
	free, _, err := disk(folder)
	return free, err
}

// DiskSize returns the size of a folder's disk in bytes.
func DiskSize(folder string) (int64, error) {
	_, size, err := disk(folder)
	return size, err
}

// disk returns the free bytes of a folder's disk, and its size, without the blocks that are
// reserved for the superuser.
func disk(folder string) (free, size int64, err error) {
	var d syscall.Statfs_t
	if err := syscall.Statfs(folder, &d); err != nil {
		return 0, 0, err
	}
	free = int64(d.Bavail) * int64(d.Bsize)
	return free, int64(d.Blocks-d.Bfree)*int64(d.Bsize) + free, nil
}

// RegisterDisk registers metrics for the size and the free space of a folder's disk.
func RegisterDisk(metrics prometheus.Registerer, folder string) {
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_disk_free_bytes", Help: "Free bytes on the disk of the data folder."}, func() float64 {
			free, _, _ := disk(folder)
			return float64(free)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "feedmill_disk_bytes", Help: "Total bytes on the disk of the data folder."}, func() float64 {
			_, size, _ := disk(folder)
			return float64(size)
		}))
}

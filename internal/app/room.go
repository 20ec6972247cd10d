package app

import (
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/feed"
)

// room is how much of the disk feeds may take.
func (a *App) room(folder string, metrics prometheus.Registerer) feed.Room {
	free := func() (int64, error) { return freeDisk(folder) }
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "feedmill_disk_free_bytes", Help: "Bytes of the disk with the data folder that are free.",
	}, func() float64 {
		n, _ := free()
		return float64(n)
	}))
	r := feed.Room{Free: free, Floor: int64(a.config.MinFreeDisk), Most: int64(a.config.MaxStoredBytes), Stored: a.store}
	if r.Most > 0 {
		stored := prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "feedmill_stored_bytes", Help: "Bytes on disk of the feeds of a workspace, when it last stored something.",
		}, []string{"workspace"})
		metrics.MustRegister(stored)
		r.Count = func(workspace feedmill.ID, bytes int64) {
			stored.WithLabelValues(string(workspace)).Set(float64(bytes))
		}
	}
	return r
}

// freeDisk is how many bytes of a folder's disk are free for this process.
func freeDisk(folder string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

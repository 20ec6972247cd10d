package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/machine"
)

// room is how much of the disk feeds may take.
func (a *App) room(folder string, metrics prometheus.Registerer) feed.Room {
	free := func() (int64, error) { return machine.FreeDisk(folder) }
	machine.RegisterDisk(metrics, folder)
	r := feed.Room{Disk: &feed.Floor{Free: free, Bytes: int64(a.config.MinFreeDisk)}, Most: int64(a.config.MaxStoredBytes), Stored: a.store}
	if r.Most > 0 {
		stored := prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "feedmill_stored_bytes", Help: "Bytes on disk of the feeds of a workspace, as of its last change.",
		}, []string{"workspace"})
		metrics.MustRegister(stored)
		r.Count = func(workspace feedmill.ID, bytes int64) {
			stored.WithLabelValues(string(workspace)).Set(float64(bytes))
		}
	}
	return r
}

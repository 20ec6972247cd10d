package api

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/feedmill/feedmill"
)

// operateView is how the service does, over all workspaces.
type operateView struct {
	Series   []seriesPoint `json:"series"`
	Breakers []breakerView `json:"breakers"`
	Stores   []storeView   `json:"stores"`
	Replicas []replicaView `json:"replicas"`
}

type breakerView struct {
	Subscription feedmill.ID           `json:"subscriptionId"`
	Workspace    feedmill.ID           `json:"workspaceId"`
	Name         string                `json:"name"`
	State        feedmill.BreakerState `json:"state"`
	ProbeAt      timestamp             `json:"probeAt"`
}

type storeView struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// LatencyMS is how long an answer took just now.
	LatencyMS float64 `json:"latencyMs"`
	// FreeBytes is of a disk.
	FreeBytes *int64 `json:"freeBytes,omitzero"`
}

// replicaView is a process that answers this question: each knows itself.
type replicaView struct {
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	StartedAt timestamp `json:"startedAt"`
	Slots     int       `json:"slots"`
	InFlight  int       `json:"inFlight"`
	Queued    int       `json:"queued"`
	Refreshes int       `json:"refreshes"`
	// MemoryBytes is what the process has in memory.
	MemoryBytes int64 `json:"memoryBytes"`
}

// storePatience is how long a store may take to say that it is there.
const storePatience = 5 * time.Second

func (s *Server) operate(c *call) (answer, error) {
	if !c.who.AllWorkspaces {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: "Only an admin of the workspace \"default\" sees how the service does."}
	}
	values := gather(s.Metrics)
	host, _ := os.Hostname()
	v := operateView{
		Series: s.series.all(), Breakers: []breakerView{}, Stores: []storeView{s.recordStore(c.ctx())},
		Replicas: []replicaView{{
			Name: host, Version: s.Version, StartedAt: timestamp(s.started), Slots: int(values["feedmill_delivery_slots"]), InFlight: int(values["feedmill_delivery_in_flight"]),
			Queued: int(values["feedmill_delivery_queued"]), Refreshes: int(values["feedmill_refresh_running"]), MemoryBytes: int64(values["process_resident_memory_bytes"]),
		}},
	}
	if free, ok := values["feedmill_disk_free_bytes"]; ok {
		v.Stores = append(v.Stores, storeView{Name: "disk", State: "ready", FreeBytes: new(int64(free))})
	}
	for _, b := range s.Dispatcher.OpenBreakers() {
		view := breakerView{Subscription: b.Subscription, Workspace: b.Workspace, State: b.State, ProbeAt: timestamp(b.ProbeAt)}
		if sub, err := s.Store.Subscription(c.ctx(), b.Workspace, b.Subscription); err == nil {
			view.Name = sub.Name
		}
		v.Breakers = append(v.Breakers, view)
	}
	return jsonAnswer(http.StatusOK, v), nil
}

// recordStore says how the store of records does.
func (s *Server) recordStore(ctx context.Context) storeView {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	began := time.Now()
	v := storeView{Name: "records", State: "ready"}
	if s.Store.Ping(ctx) != nil {
		v.State = "failed"
	}
	v.LatencyMS = float64(time.Since(began).Microseconds()) / 1000
	return v
}

package api

import (
	"context"
	"net/http"
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

// replicaView is a process of the service.
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
	// LeaseAge is how long ago the process last said that it is there.
	LeaseAge float64 `json:"leaseAgeSeconds"`
}

// storePatience is how long a store may take to say that it is there.
const storePatience = 5 * time.Second

func (s *Server) operate(c *call) (answer, error) {
	if !c.who.AllWorkspaces {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: "Only an admin of the workspace \"default\" sees how the service does."}
	}
	v := operateView{Breakers: []breakerView{}, Stores: []storeView{s.recordStore(c.ctx())}}
	if free, ok := gather(s.Metrics)["feedmill_disk_free_bytes"]; ok {
		v.Stores = append(v.Stores, storeView{Name: "disk", State: "ready", FreeBytes: new(int64(free))})
	}
	reports, err := s.processes(c.ctx())
	if err != nil {
		return answer{}, err
	}
	for _, r := range reports {
		v.Replicas = append(v.Replicas, viewReplica(r))
		for _, b := range r.Breakers {
			view := breakerView{Subscription: b.Subscription, Workspace: b.Workspace, State: b.State, ProbeAt: timestamp(b.ProbeAt)}
			if sub, err := s.Store.Subscription(c.ctx(), b.Workspace, b.Subscription); err == nil {
				view.Name = sub.Name
			}
			v.Breakers = append(v.Breakers, view)
		}
	}
	if v.Series, err = s.allSeries(c.ctx()); err != nil {
		return answer{}, err
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

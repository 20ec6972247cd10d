package api

import (
	"context"
	"net/http"
	"net/url"
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
	Subscription feedmill.ID `json:"subscriptionId"`
	Workspace    feedmill.ID `json:"workspaceId"`
	Name         string      `json:"name"`
	// Endpoint is the host that is left alone.
	Endpoint  string                `json:"endpoint"`
	State     feedmill.BreakerState `json:"state"`
	Since     timestamp             `json:"since"`
	LastError string                `json:"lastError"`
	ProbeAt   timestamp             `json:"probeAt"`
}

type storeView struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Latency is how long an answer took just now, and the quantiles are those of the
	// last hour: half of the answers, and all but one of a hundred, took at most so long.
	Latency milliseconds  `json:"latencyMs"`
	P50     *milliseconds `json:"p50Ms,omitzero"`
	P99     *milliseconds `json:"p99Ms,omitzero"`
	// Replica is the one whose disk it is, FreeBytes what is free of it, and TotalBytes what
	// it has.
	Replica    string `json:"replica,omitzero"`
	FreeBytes  *int64 `json:"freeBytes,omitzero"`
	TotalBytes int64  `json:"totalBytes,omitzero"`
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
	reports, err := s.processes(c.ctx())
	if err != nil {
		return answer{}, err
	}
	for _, r := range reports {
		v.Replicas = append(v.Replicas, viewReplica(r))
		if r.FreeDisk != nil {
			v.Stores = append(v.Stores, storeView{Name: "disk", State: "ready", Replica: r.Name, FreeBytes: r.FreeDisk, TotalBytes: r.DiskSize})
		}
		for _, b := range r.Breakers {
			v.Breakers = append(v.Breakers, s.viewBreaker(c.ctx(), b))
		}
	}
	if v.Series, err = s.allSeries(c.ctx()); err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, v), nil
}

// viewBreaker tells of a breaker and whose it is.
func (s *Server) viewBreaker(ctx context.Context, b feedmill.OpenBreaker) breakerView {
	v := breakerView{Subscription: b.Subscription, Workspace: b.Workspace, State: b.State, Since: timestamp(b.Since), LastError: b.LastError, ProbeAt: timestamp(b.ProbeAt)}
	if sub, err := s.Store.Subscription(ctx, b.Workspace, b.Subscription); err == nil {
		v.Name = sub.Name
		if u, err := url.Parse(sub.URL); err == nil {
			v.Endpoint = u.Host // what follows it may be a secret
		}
	}
	return v
}

// recordStore says how the store of records does.
func (s *Server) recordStore(ctx context.Context) storeView {
	took, err := s.askStore(ctx)
	v := storeView{Name: "records", State: "ready", Latency: inMilliseconds(took)}
	if err != nil {
		v.State = "failed"
	}
	if half, most, ok := s.latencies.quantiles(); ok {
		v.P50, v.P99 = new(inMilliseconds(half)), new(inMilliseconds(most))
	}
	return v
}

// askStore asks the store of records whether it is there, and notes how long it took to
// say so.
func (s *Server) askStore(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	began := time.Now()
	err = s.Store.Ping(ctx)
	took = time.Since(began)
	s.latencies.add(took)
	return took, err
}

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
	// Held is how many deliveries wait for it, and HeldAtLeast says that there are more.
	Held        int  `json:"held"`
	HeldAtLeast bool `json:"heldAtLeast,omitzero"`
}

type storeView struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Engine is what keeps the records, and Where the place of the store.
	Engine string `json:"engine,omitzero"`
	Where  string `json:"where,omitzero"`
	// Connections are those of the replica that is asked, of MaxConnections.
	Connections    int `json:"connections,omitzero"`
	MaxConnections int `json:"maxConnections,omitzero"`
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
	// MissingFiles is how many files of the current versions of feeds are not in its data folder:
	// it does not serve the data of those feeds and does not refresh them.
	MissingFiles int `json:"missingFiles"`
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
			v.Stores = append(v.Stores, storeView{Name: "disk", State: "ready", Replica: r.Name, Where: r.Folder, FreeBytes: r.FreeDisk, TotalBytes: r.DiskSize})
		}
		for _, b := range r.Breakers {
			v.Breakers = append(v.Breakers, s.viewBreaker(c.ctx(), b))
		}
	}
	if err := s.countHeld(c.ctx(), v.Breakers); err != nil {
		return answer{}, err
	}
	if v.Series, err = s.allSeries(c.ctx()); err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, v), nil
}

// countHeld counts what waits behind breakers, as far as lists count backlogs.
func (s *Server) countHeld(ctx context.Context, breakers []breakerView) error {
	if len(breakers) == 0 {
		return nil
	}
	ids := make([]feedmill.ID, len(breakers))
	for i, b := range breakers {
		ids[i] = b.Subscription
	}
	backlogs, err := s.Store.Backlogs(ctx, ids, feedmill.MaxListedBacklog+1)
	if err != nil {
		return err
	}
	for i := range breakers {
		b := &breakers[i]
		b.Held = backlogs[b.Subscription].Pending + backlogs[b.Subscription].Retrying
		if b.HeldAtLeast = b.Held > feedmill.MaxListedBacklog; b.HeldAtLeast {
			b.Held = feedmill.MaxListedBacklog
		}
	}
	return nil
}

// viewBreaker tells of a breaker and whose it is.
func (s *Server) viewBreaker(ctx context.Context, b feedmill.OpenBreaker) breakerView {
	v := breakerView{Subscription: b.Subscription, Workspace: b.Workspace, State: b.State, Since: timestamp(b.Since), LastError: b.LastError, ProbeAt: timestamp(b.ProbeAt)}
	if sub, err := s.Store.Subscription(ctx, b.Workspace, b.Subscription); err == nil {
		v.Name = sub.Name
		if u, err := url.Parse(sub.Destination.URL); err == nil {
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
	if p, err := s.Store.Place(ctx); err == nil { // of one that gives no answer nothing more is said
		v.Engine, v.Where, v.Connections, v.MaxConnections = p.Engine, p.Where, p.Connections, p.MaxConnections
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

package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// storePatience is how long a store may take to say that it is there.
const storePatience = 5 * time.Second

func (s *Server) operate(c *call) (answer, error) {
	if !c.who.AllWorkspaces {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrForbidden, Detail: "Only an admin of the workspace \"default\" can view the status of the service."}
	}
	v := client.Operation{Breakers: []client.OpenBreaker{}, Stores: []client.StoreState{s.recordStore(c.ctx())}, Scrub: client.Scrub{Damaged: []client.DamagedFile{}}}
	reports, err := s.processes(c.ctx())
	if err != nil {
		return answer{}, err
	}
	for _, r := range reports {
		v.Replicas = append(v.Replicas, viewReplica(r))
		if r.FreeDisk != nil {
			v.Stores = append(v.Stores, client.StoreState{Name: "disk", State: "ready", Replica: r.Name, Where: r.Folder, FreeBytes: r.FreeDisk, TotalBytes: r.DiskSize})
		}
		for _, f := range r.Damaged {
			v.Scrub.Damaged = append(v.Scrub.Damaged, client.DamagedFile{FeedID: string(f.Feed), FirstVersion: f.First, LastVersion: f.Last, File: f.File, Replica: r.Name})
		}
		if r.silent() {
			continue
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
	if s.Bucket != nil {
		v.Stores = append(v.Stores, s.bucketState(v.Series))
	}
	if err := s.addFileStatus(c.ctx(), &v.Scrub); err != nil {
		return answer{}, err
	}
	if v.Leases, err = s.leases(c.ctx(), reports); err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, v), nil
}

// countHeld counts what waits behind breakers, as far as lists count backlogs.
func (s *Server) countHeld(ctx context.Context, breakers []client.OpenBreaker) error {
	if len(breakers) == 0 {
		return nil
	}
	ids := make([]feedmill.ID, len(breakers))
	for i, b := range breakers {
		ids[i] = feedmill.ID(b.SubscriptionID)
	}
	backlogs, err := s.Store.Backlogs(ctx, ids, feedmill.MaxListedBacklog+1)
	if err != nil {
		return err
	}
	for i := range breakers {
		b := &breakers[i]
		backlog := backlogs[ids[i]]
		b.Held = backlog.Pending + backlog.Retrying
		if b.HeldAtLeast = b.Held > feedmill.MaxListedBacklog; b.HeldAtLeast {
			b.Held = feedmill.MaxListedBacklog
		}
	}
	return nil
}

// viewBreaker tells of a breaker and whose it is.
func (s *Server) viewBreaker(ctx context.Context, b feedmill.OpenBreaker) client.OpenBreaker {
	v := client.OpenBreaker{SubscriptionID: string(b.Subscription), WorkspaceID: string(b.Workspace), State: b.State, Since: b.Since, LastError: b.LastError, ProbeAt: b.ProbeAt}
	if sub, err := s.Store.Subscription(ctx, b.Workspace, b.Subscription); err == nil {
		v.Name = sub.Name
		if u, err := url.Parse(sub.Destination.URL); err == nil {
			v.Endpoint = u.Host // what follows it may be a secret
		}
	}
	return v
}

// recordStore says how the store of records does.
func (s *Server) recordStore(ctx context.Context) client.StoreState {
	took, err := s.askStore(ctx)
	v := client.StoreState{Name: "records", State: "ready", Latency: inMilliseconds(took)}
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

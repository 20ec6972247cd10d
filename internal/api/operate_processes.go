package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// ProcessStore has the reports of the processes that share the store.
type ProcessStore interface {
	ReportProcess(ctx context.Context, report feedmill.ProcessReport, point *feedmill.ProcessReport) error
	ForgetProcess(ctx context.Context, process string) error
	Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	ProcessPoints(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	HeldLeases(ctx context.Context, now time.Time) ([]feedmill.HeldLease, error)
	FileStatus(ctx context.Context) (feedmill.FileStatus, error)
}

const (
	// reportEvery is how often a process says that it is there, and processGone how long
	// after the last time it is taken for gone.
	reportEvery = 15 * time.Second
	processGone = 4 * reportEvery
	// processSilent is when a process should have reported twice, and keepSilent how long one is
	// listed that does not report.
	processSilent = 2 * reportEvery
	keepSilent    = 10 * time.Minute
	// reportPatience is how long that may take.
	reportPatience = 5 * time.Second
	// forgetPatience is how long the last write of a process that ends may take.
	forgetPatience = 3 * time.Second
	// maxReportedBreakers is how many breakers a process tells of.
	maxReportedBreakers = 100
)

// processState is what a process says of itself.
type processState struct {
	Name        string                 `json:"name"`
	Holder      string                 `json:"holder,omitzero"`
	Draining    bool                   `json:"draining,omitzero"`
	Version     string                 `json:"version"`
	StartedAt   time.Time              `json:"startedAt"`
	Slots       int                    `json:"slots"`
	InFlight    int                    `json:"inFlight"`
	Queued      int                    `json:"queued"`
	Refreshes   int                    `json:"refreshes"`
	MemoryBytes int64                  `json:"memoryBytes"`
	Breakers    []feedmill.OpenBreaker `json:"breakers"`
	// FreeDisk is how many bytes of its disk are free, nil where that is not known, and
	// DiskSize how many it has.
	FreeDisk *int64 `json:"freeDisk,omitzero"`
	DiskSize int64  `json:"diskSize,omitzero"`
	// MissingFiles is how many files of feeds are not in its data folder.
	MissingFiles int `json:"missingFiles,omitzero"`
	// Folder is where its data is.
	Folder string `json:"folder,omitzero"`
	// CacheBytes is how much its cache of a bucket has, of CacheMax.
	CacheBytes int64 `json:"cacheBytes,omitzero"`
	CacheMax   int64 `json:"cacheMaxBytes,omitzero"`
	// Damaged are stored files that it found to be damaged.
	Damaged []damagedFile `json:"damaged,omitempty"`

	reportedAt time.Time
}

// damagedFile is a damaged file in the report of a process.
type damagedFile struct {
	Feed  feedmill.ID `json:"feed"`
	First int64       `json:"first"`
	Last  int64       `json:"last"`
	File  string      `json:"file"`
}

// silent reports whether a process has not reported for longer than usual.
func (p processState) silent() bool { return time.Since(p.reportedAt) > processSilent }

func viewReplica(p processState) client.Replica {
	state := "ready"
	switch {
	case p.silent():
		state = "silent"
		p.Slots, p.InFlight, p.Queued, p.Refreshes = 0, 0, 0, 0 // its leases have ended
	case p.Draining:
		state = "draining"
	}
	return client.Replica{
		Name: p.Name, State: state, CacheBytes: p.CacheBytes, CacheMaxBytes: p.CacheMax, Version: p.Version, StartedAt: p.StartedAt, Slots: p.Slots, InFlight: p.InFlight, Queued: p.Queued,
		Refreshes: p.Refreshes, MemoryBytes: p.MemoryBytes, LeaseAge: max(time.Since(p.reportedAt), 0).Round(time.Millisecond).Seconds(),
		MissingFiles: p.MissingFiles,
	}
}

// process is how this process does.
func (s *Server) process(ctx context.Context) processState {
	values := gather(s.Metrics)
	host, _ := os.Hostname()
	p := processState{
		Name: host, Version: s.Version, StartedAt: s.started.UTC(), Slots: int(values["feedmill_delivery_slots"]), InFlight: int(values["feedmill_delivery_in_flight"]),
		Queued: int(values["feedmill_delivery_queued"]), Refreshes: int(values["feedmill_refresh_running"]), MemoryBytes: int64(values["process_resident_memory_bytes"]),
		MissingFiles: int(values["feedmill_files_missing"]), reportedAt: time.Now(),
		Holder: s.Holder, Draining: s.stopping.Load(), CacheBytes: int64(values["feedmill_cache_bytes"]), CacheMax: int64(values["feedmill_cache_max_bytes"]),
	}
	if s.DamagedFiles != nil {
		for _, f := range s.DamagedFiles(ctx) {
			p.Damaged = append(p.Damaged, damagedFile{f.Feed, f.First, f.Last, f.Name})
		}
	}
	if free, ok := values["feedmill_disk_free_bytes"]; ok {
		p.FreeDisk, p.DiskSize = new(int64(free)), int64(values["feedmill_disk_bytes"])
		p.Folder = s.Folder
	}
	p.Breakers = s.Dispatcher.OpenBreakers()
	p.Breakers = p.Breakers[:min(len(p.Breakers), maxReportedBreakers)]
	return p
}

// report says how this process does and, at the end of a step of the series, what it did
// in it. That a report is lost is no harm: the next one comes soon.
func (s *Server) report(ctx context.Context, point *client.OperationPoint) {
	ctx, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	_, _ = s.askStore(ctx) // for how long it takes; that it fails the report says, too
	text, err := json.Marshal(s.process(ctx))
	report := feedmill.ProcessReport{Process: s.name, At: now(), Text: text}
	var did *feedmill.ProcessReport
	if err == nil && point != nil {
		did = &feedmill.ProcessReport{Process: s.name, At: point.At.UTC().Truncate(seriesStep)}
		did.Text, err = json.Marshal(point)
	}
	if err == nil {
		err = s.Store.ReportProcess(ctx, report, did)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Debug("reporting the status of this process failed", "error", err)
	}
}

// forgetProcess says that this process is there no longer.
func (s *Server) forgetProcess() {
	ctx, cancel := context.WithTimeout(context.Background(), forgetPatience)
	defer cancel()
	_ = s.Store.ForgetProcess(ctx, s.name) // it is soon taken for gone in any case
}

// processes are how all processes do, this one as it does now.
func (s *Server) processes(ctx context.Context) ([]processState, error) {
	others, err := s.otherProcesses(ctx, keepSilent)
	if err != nil {
		return nil, err
	}
	all := append(others, s.process(ctx))
	// A process that was killed is gone when another one has its data folder.
	newest := make(map[string]time.Time)
	for _, p := range all {
		if p.StartedAt.After(newest[p.Holder]) {
			newest[p.Holder] = p.StartedAt
		}
	}
	all = slices.DeleteFunc(all, func(p processState) bool { return p.Holder != "" && p.silent() && p.StartedAt.Before(newest[p.Holder]) })
	slices.SortStableFunc(all, func(a, b processState) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.StartedAt.Compare(b.StartedAt))
	})
	return all, nil
}

// otherProcesses are how all processes but this one did when they last said so, some time ago at
// most.
func (s *Server) otherProcesses(ctx context.Context, age time.Duration) (all []processState, err error) {
	reports, err := s.Store.Processes(ctx, now().Add(-age))
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		if r.Process == s.name {
			continue
		}
		var p processState
		if err := json.Unmarshal(r.Text, &p); err != nil {
			return nil, fmt.Errorf("reading the report of a process: %w", err)
		}
		p.reportedAt = r.At
		all = append(all, p)
	}
	return all, nil
}

// allSeries are the points of the last day over all processes. What each counted is added
// up; what all of them see in the store is the same for all.
func (s *Server) allSeries(ctx context.Context) ([]client.OperationPoint, error) {
	reports, err := s.Store.ProcessPoints(ctx, now().Add(-feedmill.KeepProcessPoints))
	if err != nil {
		return nil, err
	}
	points := []client.OperationPoint{}
	for _, r := range reports {
		var f client.OperationPoint
		if err := json.Unmarshal(r.Text, &f); err != nil {
			return nil, fmt.Errorf("reading a data point of a process: %w", err)
		}
		if n := len(points); n == 0 || !points[n-1].At.Equal(r.At) {
			f.At = r.At
			points = append(points, f)
			continue
		}
		p := &points[len(points)-1]
		p.Accepted, p.Delivered, p.Failed = p.Accepted+f.Accepted, p.Delivered+f.Delivered, p.Failed+f.Failed
		p.InFlight, p.Refreshes = p.InFlight+f.InFlight, p.Refreshes+f.Refreshes
		p.Open, p.OldestDue = max(p.Open, f.Open), max(p.OldestDue, f.OldestDue)
		p.Scrubbed += f.Scrubbed
		p.Bucket = addBucket(p.Bucket, f.Bucket)
	}
	for i := range points {
		points[i].Attempts = points[i].Delivered + points[i].Failed
	}
	return points, nil
}

package client

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
)

// Operation is how a service does, over all workspaces and all replicas.
type Operation struct {
	// Series has a point for each minute of the last day, oldest first.
	Series   []OperationPoint `json:"series"`
	Breakers []OpenBreaker    `json:"breakers"`
	Stores   []StoreState     `json:"stores"`
	Replicas []Replica        `json:"replicas"`
	// Leases are the kinds of work that one replica at a time does.
	Leases []Lease `json:"leases"`
	Scrub  Scrub   `json:"scrub"`
}

// Lease is a kind of work that one replica at a time does, such as the slots of deliveries.
type Lease struct {
	Name feedmill.LeaseKind `json:"name"`
	// Owners are the names of replicas. A replica that does not report any more is left out.
	Owners []string `json:"owners"`
	Count  int64    `json:"count"`
	// Term is how many seconds a lease lasts that is not renewed.
	Term float64 `json:"termSeconds"`
}

// Scrub is how far the stored files of versions are verified, and which files wait to be deleted.
type Scrub struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// Verified are files that were written or read in full in the last 7 days.
	Verified      int64 `json:"verifiedFiles"`
	VerifiedBytes int64 `json:"verifiedBytes"`
	// Unreferenced are files that nothing needs. They are deleted after 24 hours.
	Unreferenced      int64         `json:"unreferencedFiles"`
	UnreferencedBytes int64         `json:"unreferencedBytes"`
	Deleting          int64         `json:"deletingFiles"`
	Writing           int64         `json:"writingFiles"`
	Damaged           []DamagedFile `json:"damaged"`
}

// DamagedFile is a stored file that a replica found to be damaged.
type DamagedFile struct {
	FeedID       string `json:"feedId"`
	FirstVersion int64  `json:"firstVersion"`
	LastVersion  int64  `json:"lastVersion"`
	File         string `json:"file"`
	Replica      string `json:"replica"`
}

// OperationPoint is how a service did in a minute. Accepted events, and Attempts, which are
// those that were Delivered and those that Failed, are for each second.
type OperationPoint struct {
	At        time.Time `json:"at"`
	Accepted  float64   `json:"accepted"`
	Attempts  float64   `json:"attempts"`
	Delivered float64   `json:"delivered"`
	Failed    float64   `json:"failed"`
	Open      float64   `json:"open"`
	OldestDue float64   `json:"oldestDueSeconds"`
	InFlight  float64   `json:"inFlight"`
	Refreshes float64   `json:"refreshes"`
	// Scrubbed is how many bytes of stored files were verified per second.
	Scrubbed float64 `json:"scrubbedBytes"`
	// Bucket is set if the files are in a bucket.
	Bucket *BucketPoint `json:"bucket,omitzero"`
}

// BucketPoint is how the bucket and the caches of the replicas did in a minute. Counts are per
// second.
type BucketPoint struct {
	Requests float64 `json:"requests"`
	// Errors are those of the requests that failed.
	Errors float64 `json:"errors"`
	// P50 and P99 are those of the slowest replica, nil without a request.
	P50          *Milliseconds `json:"p50Ms,omitzero"`
	P99          *Milliseconds `json:"p99Ms,omitzero"`
	ReadBytes    float64       `json:"readBytes"`
	WrittenBytes float64       `json:"writtenBytes"`
	CacheHits    float64       `json:"cacheHits"`
	CacheMisses  float64       `json:"cacheMisses"`
	EvictedBytes float64       `json:"evictedBytes"`
}

// OpenBreaker is an endpoint that gives no answer and is tried again at ProbeAt.
type OpenBreaker struct {
	SubscriptionID string `json:"subscriptionId"`
	WorkspaceID    string `json:"workspaceId"`
	Name           string `json:"name"`
	// Endpoint is its host, and LastError what its last attempt came to.
	Endpoint  string                `json:"endpoint"`
	State     feedmill.BreakerState `json:"state"`
	Since     time.Time             `json:"since"`
	LastError string                `json:"lastError"`
	ProbeAt   time.Time             `json:"probeAt"`
	// Held is how many deliveries wait for it, counted up to 1,000; HeldAtLeast says that
	// there are more.
	Held        int  `json:"held"`
	HeldAtLeast bool `json:"heldAtLeast,omitzero"`
}

// StoreState is how a store does: "records", the "bucket" with the files of feeds, or the "disk"
// of a replica with FreeBytes.
type StoreState struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// FailedSince is since when a bucket does not respond.
	FailedSince *time.Time `json:"failedSince,omitzero"`
	// Engine is what keeps the records, and Where their file, their host or the folder of the
	// disk. Connections are those of the replica that was asked, of MaxConnections.
	Engine         string `json:"engine,omitzero"`
	Where          string `json:"where,omitzero"`
	Connections    int    `json:"connections,omitzero"`
	MaxConnections int    `json:"maxConnections,omitzero"`
	// Latency is how long an answer took just now, and P50 and P99 what half of the answers
	// of the last hour, and all but one of a hundred, took at most. Those of a bucket are of the
	// last minute with requests.
	Latency   Milliseconds  `json:"latencyMs"`
	P50       *Milliseconds `json:"p50Ms,omitzero"`
	P99       *Milliseconds `json:"p99Ms,omitzero"`
	Replica   string        `json:"replica,omitzero"`
	FreeBytes *int64        `json:"freeBytes,omitzero"`
	// TotalBytes is how large the disk is, free or not; 0 where that is not known.
	TotalBytes int64 `json:"totalBytes,omitzero"`
}

// Replica is a process of the service.
type Replica struct {
	Name string `json:"name"`
	// State is "ready", "draining" while the replica stops, or "silent" if it has not reported
	// for 30 seconds.
	State       string    `json:"state"`
	Version     string    `json:"version"`
	StartedAt   time.Time `json:"startedAt"`
	Slots       int       `json:"slots"`
	InFlight    int       `json:"inFlight"`
	Queued      int       `json:"queued"`
	Refreshes   int       `json:"refreshes"`
	MemoryBytes int64     `json:"memoryBytes"`
	// LeaseAge is how many seconds ago the replica last said that it is there.
	LeaseAge float64 `json:"leaseAgeSeconds"`
	// MissingFiles is how many files of the current versions of feeds are not in its data folder:
	// it does not serve the data of those feeds and does not refresh them.
	MissingFiles int `json:"missingFiles"`
	// CacheBytes is how much the files of the bucket take in the cache, of CacheMaxBytes. Both are
	// 0 without a bucket.
	CacheBytes    int64 `json:"cacheBytes,omitzero"`
	CacheMaxBytes int64 `json:"cacheMaxBytes,omitzero"`
}

// Operate says how the service does. It is for an admin of the workspace "default".
func (c *Client) Operate(ctx context.Context) (Operation, error) {
	var out Operation
	_, err := c.call(ctx, http.MethodGet, "/operate", nil, &out)
	return out, err
}

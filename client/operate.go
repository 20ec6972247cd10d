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

// StoreState is how a store does: "records", or the "disk" of a replica with FreeBytes.
type StoreState struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Engine is what keeps the records, and Where their file, their host or the folder of the
	// disk. Connections are those of the replica that was asked, of MaxConnections.
	Engine         string `json:"engine,omitzero"`
	Where          string `json:"where,omitzero"`
	Connections    int    `json:"connections,omitzero"`
	MaxConnections int    `json:"maxConnections,omitzero"`
	// Latency is how long an answer took just now, and P50 and P99 what half of the answers
	// of the last hour, and all but one of a hundred, took at most.
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
	Name        string    `json:"name"`
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
}

// Operate says how the service does. It is for an admin of the workspace "default".
func (c *Client) Operate(ctx context.Context) (Operation, error) {
	var out Operation
	_, err := c.call(ctx, http.MethodGet, "/operate", nil, &out)
	return out, err
}

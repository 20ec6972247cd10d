package feedmill

import "time"

// Signal is what replicas tell each other about subscriptions.
type Signal string

const (
	// SignalDue says that there are deliveries due, of any subscription where
	// none is named.
	SignalDue Signal = "due"
	// SignalChanged says that subscriptions have changed.
	SignalChanged Signal = "changed"
	// SignalSlots says that there are slots to be had.
	SignalSlots Signal = "slots"
)

// ProcessReport is what a process of the service last said of itself. The stores do
// not look into what it says.
type ProcessReport struct {
	Process string
	At      time.Time
	Text    []byte
}

// KeepProcessPoints is how long the points of processes are kept.
const KeepProcessPoints = 24 * time.Hour

// LeaseKind is work that one process at a time does, with a lease in the store.
type LeaseKind string

// The kinds of leases.
const (
	// LeaseSlots are the delivery slots, whose owners send to the subscriptions in them.
	LeaseSlots LeaseKind = "slots"
	// LeaseRefreshes are runs of sources.
	LeaseRefreshes LeaseKind = "refreshes"
	// LeaseFiles are files that are being written.
	LeaseFiles LeaseKind = "files"
	// LeasePins keep files from being deleted during a backup.
	LeasePins LeaseKind = "pins"
	// LeaseMove refuses new files while the files are moved.
	LeaseMove LeaseKind = "move"
)

// LeaseKinds are all kinds, in the order in which they are listed.
var LeaseKinds = []LeaseKind{LeaseSlots, LeaseRefreshes, LeaseFiles, LeasePins, LeaseMove}

// How long leases last that are not renewed. [ObjectLease] is that of files.
const (
	SlotLease   = 15 * time.Second
	SourceLease = 30 * time.Second
	PinLease    = 10 * time.Minute
	MoveLease   = time.Minute
)

// LeaseTerms are how long leases of each kind last.
var LeaseTerms = map[LeaseKind]time.Duration{
	LeaseSlots: SlotLease, LeaseRefreshes: SourceLease, LeaseFiles: ObjectLease, LeasePins: PinLease, LeaseMove: MoveLease,
}

// HeldLease is how many leases of a kind a process holds. The holder of a pin or a move is not
// known.
type HeldLease struct {
	Kind   LeaseKind
	Holder string
	Count  int64
}

// FileStatus counts the stored files.
type FileStatus struct {
	// Files are those of versions, and Verified those of them that were written or read in full
	// in the last [ScrubEvery].
	Files, Bytes, Verified, VerifiedBytes int64
	// Unreferenced are files that no record has, which are deleted later, Deleting those whose
	// deletion has begun, and Writing those that are being written.
	Unreferenced, UnreferencedBytes, Deleting, Writing int64
}

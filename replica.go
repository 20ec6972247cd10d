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

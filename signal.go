package feedmill

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

package feedmill

import "time"

// ProcessReport is what a process of the service last said of itself. The stores do
// not look into what it says.
type ProcessReport struct {
	Process string
	At      time.Time
	Text    []byte
}

// KeepProcessPoints is how long the points of processes are kept.
const KeepProcessPoints = 24 * time.Hour

package feedmill

import (
	"fmt"
	"strings"
	"time"
)

const (
	// MaxGroupedDeliveries is how many undelivered deliveries are grouped, the newest first.
	MaxGroupedDeliveries = 100_000
	// MaxRetriedDeliveries is how many deliveries one request retries.
	MaxRetriedDeliveries = 1000
	// MaxGroupError bounds the error that a group is named by, in bytes.
	MaxGroupError = 300
)

// Undelivered is a delivery that ended without success, in short.
type Undelivered struct {
	ID           ID
	Subscription ID
	State        DeliveryState
	// Error is why: see [UndeliveredError].
	Error   string
	EndedAt time.Time
}

// UndeliveredQuery selects undelivered deliveries of a workspace, newest first.
type UndeliveredQuery struct {
	Page
	// Subscription limits them to one, which may be deleted. Empty means all.
	Subscription ID
	// States are exhausted, discarded or both; empty means both.
	States []DeliveryState
	Since  time.Time
}

// AttemptsFailed is the reason of a delivery whose attempts are used up.
func AttemptsFailed(attempts int) string { return fmt.Sprintf("all %d attempts failed", attempts) }

// IsAttemptsFailed reports whether a reason is that of [AttemptsFailed].
func IsAttemptsFailed(reason string) bool {
	return strings.HasPrefix(reason, "all ") && strings.HasSuffix(reason, " attempts failed")
}

// UndeliveredError is why a delivery ended: the error of its last attempt if its attempts are used
// up, else its reason.
func UndeliveredError(reason, lastAttempt string) string {
	text := reason
	if IsAttemptsFailed(reason) && lastAttempt != "" {
		text = lastAttempt
	}
	if len(text) > MaxGroupError {
		text = strings.ToValidUTF8(text[:MaxGroupError-len("…")], "") + "…"
	}
	return text
}

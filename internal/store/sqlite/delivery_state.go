package sqlite

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// The states of deliveries as the file has them: those that went wrong last, and
// of those the undelivered last.
const (
	statePending   = 2
	stateDelivered = 3
	stateRetrying  = 4
	stateExhausted = 5
	stateDiscarded = 6
)

var stateNumbers = []feedmill.DeliveryState{
	statePending: feedmill.DeliveryPending, stateDelivered: feedmill.DeliveryDelivered, stateRetrying: feedmill.DeliveryRetrying,
	stateExhausted: feedmill.DeliveryExhausted, stateDiscarded: feedmill.DeliveryDiscarded,
}

// stateNumber is -1 for a state that is never stored.
func stateNumber(s feedmill.DeliveryState) int { return slices.Index(stateNumbers, s) }

// storedState reads a state's number.
type storedState feedmill.DeliveryState

// Scan implements sql.Scanner.
func (s *storedState) Scan(v any) error {
	n, ok := v.(int64)
	if !ok || n < statePending || n >= int64(len(stateNumbers)) {
		return fmt.Errorf("%v is not a state of a delivery", v)
	}
	*s = storedState(stateNumbers[n])
	return nil
}

package sqlite

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// stateNumbers are the states of deliveries as the file has them, in the order
// that its indexes rely on: the open ones first, the undelivered last.
var stateNumbers = []feedmill.DeliveryState{
	feedmill.DeliveryPending, feedmill.DeliveryRetrying, feedmill.DeliveryDelivered,
	feedmill.DeliveryExhausted, feedmill.DeliveryDiscarded,
}

// firstUndelivered is where the partial index of undelivered deliveries begins.
const firstUndelivered = 3

// stateNumber is -1 for a state that is never stored.
func stateNumber(s feedmill.DeliveryState) int64 { return int64(slices.Index(stateNumbers, s)) }

// storedState reads a state's number.
type storedState feedmill.DeliveryState

// Scan implements sql.Scanner.
func (s *storedState) Scan(v any) error {
	n, ok := v.(int64)
	if !ok || n < 0 || n >= int64(len(stateNumbers)) {
		return fmt.Errorf("%v is no state of a delivery", v)
	}
	*s = storedState(stateNumbers[n])
	return nil
}

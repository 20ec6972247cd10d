package feedmill

import (
	"slices"
	"testing"
)

func TestOpenDeliveries(t *testing.T) {
	var open []DeliveryState
	for _, s := range DeliveryStates {
		if s.Open() {
			open = append(open, s)
		}
	}
	if want := []DeliveryState{DeliveryPending, DeliveryRetrying}; !slices.Equal(open, want) {
		t.Errorf("open are %q, want %q", open, want)
	}
}

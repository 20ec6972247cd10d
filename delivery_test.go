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

func TestValuesOfAHeader(t *testing.T) {
	a := HTTPAnswer{Header: [][2]string{{"Via", "a"}, {"Retry-After", "5"}, {"Via", "b"}}}
	for name, want := range map[string][]string{"Via": {"a", "b"}, "Retry-After": {"5"}, "Server": nil} {
		if got := a.Values(name); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

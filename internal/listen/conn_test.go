package listen

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// The store can still return a delivery that was acknowledged during the read.
func TestAcknowledgedDeliveryIsNotSentAgain(t *testing.T) {
	c := &conn{wake: make(chan struct{}, 1), waiting: make(map[feedmill.ID]bool), acknowledged: make(map[feedmill.ID]bool)}
	if !c.markSent("dlv_1") || c.markSent("dlv_1") {
		t.Error("a delivery is to be sent once")
	}
	if n := c.beginRead(); n != 1 {
		t.Errorf("%d deliveries wait, want 1", n)
	}
	c.acknowledge([]feedmill.ID{"dlv_1"})
	if c.markSent("dlv_1") {
		t.Error("a delivery that was acknowledged meanwhile is sent again")
	}
	if n := c.beginRead(); n != 0 {
		t.Errorf("%d deliveries wait, want none", n)
	}
	if !c.markSent("dlv_1") {
		t.Error("another attempt is not sent")
	}
}

package listen

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// A delivery that is answered while the store is read comes out of it as if it
// were open still.
func TestWhatIsAnsweredMeanwhileIsNotSentAgain(t *testing.T) {
	c := &conn{wake: make(chan struct{}, 1), waiting: make(map[feedmill.ID]bool), answered: make(map[feedmill.ID]bool)}
	if !c.note("dlv_1") || c.note("dlv_1") {
		t.Error("a delivery is to be sent once")
	}
	if n := c.beginRead(); n != 1 {
		t.Errorf("%d deliveries wait, want 1", n)
	}
	c.settle([]feedmill.ID{"dlv_1"})
	if c.note("dlv_1") {
		t.Error("what was answered meanwhile is sent again")
	}
	if n := c.beginRead(); n != 0 {
		t.Errorf("%d deliveries wait, want none", n)
	}
	if !c.note("dlv_1") {
		t.Error("another attempt is not sent")
	}
}

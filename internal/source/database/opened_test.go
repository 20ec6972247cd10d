package database

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// stuck is a database whose server does not let go of a connection until it is
// released.
type stuck struct {
	Database
	release chan struct{}
}

func (s stuck) Close() error {
	<-s.release
	return nil
}

// A database that cannot be closed holds up nobody but itself: this test hangs
// where it does.
func TestClosingHoldsUpNobody(t *testing.T) {
	db := stuck{release: make(chan struct{})}
	defer close(db.release)
	var open opened
	hung, other := feedmill.Connection{ID: "con_hung"}, feedmill.Connection{ID: "con_other"}
	open.leave(hung.ID, open.add(hung, nil, db, newSessions(2, nil)))
	open.forget(hung.ID)
	if open.find(hung, nil) != nil {
		t.Error("a database that was forgotten is used")
	}
	open.leave(other.ID, open.add(other, nil, db, newSessions(2, nil)))
	if open.find(other, nil) == nil {
		t.Error("another database is not open any more")
	}
}

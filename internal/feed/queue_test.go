package feed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
)

// TestQueueOfAFeed holds the uploads to a feed to their order, also when one of them is canceled while it waits.
func TestQueueOfAFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q feedQueue
		feed, other := feedmill.ID("df_1"), feedmill.ID("df_2")
		first, err := q.wait(t.Context(), feed)
		if err != nil {
			t.Fatal(err)
		}
		apart, err := q.wait(t.Context(), other)
		if err != nil {
			t.Fatalf("another feed has a queue of its own: %v", err)
		}
		apart()
		ctx, leave := context.WithCancelCause(t.Context())
		left := errors.New("left")
		canceled := make(chan error)
		go func() {
			_, err := q.wait(ctx, feed)
			canceled <- err
		}()
		synctest.Wait()
		turn := make(chan func())
		go func() {
			done, err := q.wait(t.Context(), feed)
			if err != nil {
				t.Error(err)
			}
			turn <- done
		}()
		synctest.Wait()
		leave(left)
		if err := <-canceled; !errors.Is(err, left) {
			t.Errorf("the canceled upload: %v", err)
		}
		synctest.Wait()
		select {
		case <-turn:
			t.Fatal("the third upload does not wait for the first")
		default:
		}
		first()
		(<-turn)()
		synctest.Wait()
		if len(q.last) != 0 {
			t.Errorf("%d queues are left", len(q.last))
		}
	})
}

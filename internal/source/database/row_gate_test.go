package database

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Large rows of several statements are held one by one, small ones at any time, and a row that
// takes too long gives back its turn.
func TestRowGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := share.WithLargeRows(t.Context(), share.NewSlots(1, 1, 10))
		first, _ := NewRowGate(ctx)
		defer first.Close()
		second, running := NewRowGate(ctx)
		defer second.Close()
		if err := first.Came(largeRow + 1); err != nil {
			t.Fatal(err)
		}
		if err := second.Came(largeRow); err != nil {
			t.Fatal(err)
		}
		taken := make(chan error, 1)
		go func() { taken <- second.Came(1) }()
		synctest.Wait()
		select {
		case err := <-taken:
			t.Fatalf("two large rows are held at once, %v", err)
		default:
		}
		first.Next()
		if err := <-taken; err != nil {
			t.Fatal(err)
		}
		<-running.Done() // after 30 seconds of the bubble
		var failure *feedmill.SourceFailure
		if !errors.As(context.Cause(running), &failure) {
			t.Errorf("the row ended with %v", context.Cause(running))
		}
		second.Close()
		if err := first.Came(largeRow + 1); err != nil {
			t.Error(err)
		}
	})
}

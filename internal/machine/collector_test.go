package machine

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentAround(t *testing.T) {
	for _, c := range []struct {
		live, held int64
		want       int
	}{
		{50 * mebibyte, 0, 100},
		{50 * mebibyte, minHeld - 1, 100},
		{100 * mebibyte, 50 * mebibyte, 50},
		{153 * mebibyte, 112 * mebibyte, 25},
		{1000 * mebibyte, 100 * mebibyte, 90}, // something else is at work
		{130 * mebibyte, 120 * mebibyte, 20},
		{40 * mebibyte, 100 * mebibyte, 20}, // it was not collected since
		{0, 100 * mebibyte, 100},
	} {
		if got := percentAround(c.live, c.held); got != c.want {
			t.Errorf("%d of %d held: %d percent, want %d", c.held, c.live, got, c.want)
		}
	}
}

// GOGC is lower while many bytes are held, and is reset at the end.
func TestCollectAround(t *testing.T) {
	t.Setenv("GOGC", "") // so that it is put back
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	payload := make([]byte, 100*mebibyte)
	runtime.GC()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan struct{})
	done := make(chan struct{})
	asked := 0
	go func() {
		defer close(done)
		CollectAround(ctx, func() int {
			if asked++; asked == 3 {
				close(told)
			}
			return len(payload)
		})
	}()
	<-told
	if percent := debug.SetGCPercent(defaultPercent); percent >= defaultPercent {
		t.Errorf("with 100 MiB held it may grow by %d percent", percent)
	}
	cancel()
	<-done
	if percent := debug.SetGCPercent(defaultPercent); percent != defaultPercent {
		t.Errorf("%d percent in the end", percent)
	}
	runtime.KeepAlive(payload)
}

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
		alive, held int64
		want        int
	}{
		{50 * mebibyte, 0, 100},
		{50 * mebibyte, manyHeld - 1, 100},
		{100 * mebibyte, 50 * mebibyte, 50},
		{153 * mebibyte, 112 * mebibyte, 25},
		{1000 * mebibyte, 100 * mebibyte, 90}, // something else is at work
		{130 * mebibyte, 120 * mebibyte, 20},
		{40 * mebibyte, 100 * mebibyte, 20}, // it was not collected since
		{0, 100 * mebibyte, 100},
	} {
		if got := percentAround(c.alive, c.held); got != c.want {
			t.Errorf("%d of %d held: %d percent, want %d", c.held, c.alive, got, c.want)
		}
	}
}

// The collector is told while much is held, and is as it was in the end.
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
	if percent := debug.SetGCPercent(usualPercent); percent >= usualPercent {
		t.Errorf("with 100 MiB held it may grow by %d percent", percent)
	}
	cancel()
	<-done
	if percent := debug.SetGCPercent(usualPercent); percent != usualPercent {
		t.Errorf("%d percent in the end", percent)
	}
	runtime.KeepAlive(payload)
}

package api

import (
	"testing"
	"time"
)

func TestQuantilesOfLatencies(t *testing.T) {
	var l latencies
	if _, _, ok := l.quantiles(); ok {
		t.Error("there are quantiles of nothing")
	}
	want := func(half, most time.Duration) {
		t.Helper()
		if a, b, ok := l.quantiles(); a != half || b != most || !ok {
			t.Errorf("%v and %v, want %v and %v", a, b, half, most)
		}
	}
	l.add(7)
	want(7, 7)
	for i := range keptLatencies { // the first of all is forgotten
		l.add(time.Duration(keptLatencies - i))
	}
	want(120, 238)
	for range keptLatencies {
		l.add(3)
	}
	want(3, 3)
}

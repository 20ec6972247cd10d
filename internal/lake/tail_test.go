package lake

import (
	"fmt"
	"strings"
	"testing"
)

// TestTail holds what is kept of the errors of a worker to its beginning and its end.
func TestTail(t *testing.T) {
	var kept tail
	fmt.Fprint(&kept, "all")
	if got := string(kept.text()); got != "all" {
		t.Error(got)
	}
	kept = tail{}
	fmt.Fprint(&kept, "the reason\n")
	for i := range 1000 {
		fmt.Fprintf(&kept, "frame %d\n", i)
	}
	got := string(kept.text())
	if !strings.HasPrefix(got, "the reason\nframe 0\n") || !strings.HasSuffix(got, "\nframe 999\n") || len(got) > headBytes+tailBytes+len(" … ") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

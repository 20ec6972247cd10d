package feed

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// The trace of a long fetch has its beginning and its end.
func TestTraceIsBounded(t *testing.T) {
	var trace trace
	for page := 1; page <= 3*maxTraced+7; page++ {
		trace.add(feedmill.TracedRequest{Page: page})
		if all := trace.list(); len(all) != min(page, 2*maxTraced) || all[len(all)-1].Page != page {
			t.Fatalf("after %d there are %d, and the last is %d", page, len(all), all[len(all)-1].Page)
		}
	}
	for i, r := range trace.list() {
		want := i + 1
		if i >= maxTraced {
			want = i + maxTraced + 7 + 1
		}
		if r.Page != want {
			t.Fatalf("request %d is that of page %d, want %d", i, r.Page, want)
		}
	}
}

package ui

import (
	"strconv"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// Of a long trace a page has both ends, numbered as they were asked, and says how many are
// between them.
func TestLongTraces(t *testing.T) {
	for _, all := range []int{1, shownRequests, shownRequests + 1, 3 * shownRequests} {
		trace := make([]client.TracedRequest, all)
		for i := range trace {
			trace[i].URL = "/" + strconv.Itoa(i+1)
		}
		v := waterfall(trace)
		if v.All != all || len(v.Requests)+v.LeftOut != all || len(v.Requests) > shownRequests {
			t.Errorf("of %d requests %d are shown and %d left out", all, len(v.Requests), v.LeftOut)
		}
		for _, r := range v.Requests {
			if r.URL != "/"+strconv.Itoa(r.Number) {
				t.Fatalf("of %d requests %s has the number %d", all, r.URL, r.Number)
			}
		}
		if last := v.Requests[len(v.Requests)-1]; last.Number != all {
			t.Errorf("of %d requests the last that is shown is number %d", all, last.Number)
		}
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page of large events ends before its limit, and leads to the rest.
func TestPagesOfLargeEvents(t *testing.T) {
	w := newWorld(t)
	data := strings.Repeat("x", 200<<10)
	for n := range 30 {
		a := w.do(t, "POST", "/events", fmt.Sprintf(`{"type":"metric.created","resourceId":"m_%d","data":{"text":%q}}`, n, data))
		if a.Code != 202 {
			t.Fatalf("%d: %s", a.Code, a.Body)
		}
	}
	var sizes []int
	seen := make(map[string]bool)
	next := regexp.MustCompile(`^<(.+)>; rel="next"$`)
	for path := "/events?limit=500"; path != ""; {
		a := w.do(t, "GET", path, "")
		var page []struct {
			ResourceID string `json:"resourceId"`
		}
		must(t, json.Unmarshal(a.Body.Bytes(), &page))
		for _, e := range page {
			seen[e.ResourceID] = true
		}
		sizes = append(sizes, len(page))
		if path = ""; next.MatchString(a.Header().Get("Link")) {
			path = next.FindStringSubmatch(a.Header().Get("Link"))[1]
		}
	}
	if w.HeldBytes() != 0 {
		t.Errorf("%d bytes are held of lists that were fetched", w.HeldBytes())
	}
	if !slices.Equal(sizes, []int{6, 6, 6, 6, 6}) || len(seen) != 30 {
		t.Errorf("pages of %v events have %d of 30", sizes, len(seen))
	}
}

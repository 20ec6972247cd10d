package fetch

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Parents that are gone are remembered for a while, and not for ever.
func TestGoneParentsAreForgotten(t *testing.T) {
	p := Position{Parents: map[string]string{}, Known: true}
	there := map[string]bool{}
	for fetch := range int64(5) {
		p.Fetches = fetch + 1
		clear(there)
		for i := range 4_000 {
			key := fmt.Sprintf("%d-%d", fetch, i)
			p.Parents[key], there[key] = "1", true
		}
		p.forget(there)
	}
	if len(p.Gone) != maxGone || len(p.Parents) != maxGone+4_000 {
		t.Fatalf("%d gone of %d", len(p.Gone), len(p.Parents))
	}
	for i := range 4_000 {
		if _, known := p.Parents[fmt.Sprint("0-", i)]; known {
			t.Fatal("one that was gone first is remembered")
		}
		if _, known := p.Parents[fmt.Sprint("3-", i)]; !known {
			t.Fatal("one that was gone last is forgotten")
		}
	}
	// One that comes back is not gone.
	back := map[string]bool{"3-1": true}
	if p.forget(back); p.Gone["3-1"] != 0 {
		t.Error("it is gone")
	}
}

// Feeds of one source that have come to different windows count their own rows.
func TestMarksOfSeveralFeeds(t *testing.T) {
	windowed := &spec.Spec{Incremental: &spec.Incremental{Step: spec.Day}, Zone: time.UTC}
	at := func(text string) Position { return Position{Window: text + "T00:00:00Z"} }
	var came []windowRows
	for i, text := range []string{"2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"} {
		from, _ := spec.TimeOf(text, time.UTC)
		came = append(came, windowRows{from: from, rows: rowCounts{int64(1 + i), int64(10 * (1 + i))}})
	}
	if got, want := marksOf(windowed, came, 0, at("2026-11-01")), (marks{again: 1, fresh: 2 + 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := marksOf(windowed, came, 1, at("2026-11-03")), (marks{again: 10 + 20 + 30, fresh: 0, further: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

package fetch

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// A full fetch is due after its time, or where a refresh accepts what it finds.
func TestFullDue(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	spec := &spec.Spec{Incremental: new(spec.Incremental), FullEvery: time.Hour}
	at := func(ago time.Duration) feedmill.Feed {
		return feedmill.Feed{Position: Position{Cursor: "5", Full: now.Add(-ago)}.Text()}
	}
	accepting := at(time.Minute)
	accepting.Expects.Accept = true
	for _, test := range []struct {
		feeds []feedmill.Feed
		want  bool
	}{
		{[]feedmill.Feed{at(59 * time.Minute)}, false},
		{[]feedmill.Feed{at(time.Hour)}, true},
		{[]feedmill.Feed{at(0), at(2 * time.Hour)}, true},
		{[]feedmill.Feed{accepting}, true},
		{[]feedmill.Feed{at(-time.Hour)}, false},
		{[]feedmill.Feed{{Position: []byte(`{"cursor":"5"}`)}}, true},
	} {
		if got, err := FullDue(spec, feedmill.Fetch{Feeds: test.feeds, Now: now}); got != test.want || err != nil {
			t.Errorf("%+v: %v %v", test.feeds, got, err)
		}
	}
	for _, full := range []bool{true, false} {
		text, err := NoteFull(spec, Position{Cursor: "9"}.Text(), at(time.Minute).Position, full, now)
		p, _ := ParsePosition(text)
		if err != nil || p.Cursor != "9" || full != p.Full.Equal(now) || !full && !p.Full.Equal(now.Add(-time.Minute)) {
			t.Errorf("%s %v", text, err)
		}
	}
}

package feedmill

import (
	"slices"
	"testing"
	"time"
)

func TestExpectedRows(t *testing.T) {
	drop := 0.0
	for i, e := range []ExpectedRows{{MinRows: 1}, {MaxDrop: &drop}, {NotNull: []string{"a"}}, {Unique: []string{"a"}}} {
		if e.IsZero() {
			t.Errorf("expectation %d is none", i)
		}
	}
	if !(ExpectedRows{}).IsZero() {
		t.Error("nothing is something")
	}
	if got := (ExpectedRows{NotNull: []string{"a", "b"}, Unique: []string{"c"}}).Columns(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("something is expected of %q", got)
	}
}

func TestFeedGoesStale(t *testing.T) {
	made := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	f := Feed{CreatedAt: made, UpdatedAt: made}
	if f.Watch(); !f.StaleAt.IsZero() || f.GoStale(made.Add(1000*time.Hour)) {
		t.Error("a feed of which nothing is expected goes stale")
	}
	f.Expects.Every = time.Hour
	if f.Watch(); !f.StaleAt.Equal(made.Add(time.Hour)) {
		t.Errorf("a feed without data goes stale at %v", f.StaleAt)
	}
	f.fresh(made.Add(30 * time.Minute))
	due := made.Add(90 * time.Minute)
	if !f.StaleAt.Equal(due) || f.GoStale(due.Add(-1)) {
		t.Errorf("a feed with data goes stale at %v", f.StaleAt)
	}
	if !f.GoStale(due) || !f.Stale || f.GoStale(due.Add(time.Hour)) {
		t.Error("a feed does not go stale once")
	}
	f.UpdatedAt = due
	if f.Watch(); !f.Stale || !f.StaleAt.IsZero() {
		t.Error("it is fresh again without data")
	}
	f.Expects.Every = 2 * time.Hour // which ends after the change
	if f.Watch(); f.Stale || !f.StaleAt.Equal(made.Add(150*time.Minute)) {
		t.Errorf("with more time it is stale: %v, at %v", f.Stale, f.StaleAt)
	}
	f.Stale, f.Expects.Every = true, 0
	if f.Watch(); f.Stale || !f.StaleAt.IsZero() {
		t.Error("a feed of which nothing is expected any more is stale")
	}
}

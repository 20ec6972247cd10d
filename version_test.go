package feedmill

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/columnar"
)

func TestCompareColumns(t *testing.T) {
	before := []Column{{ID: "c1", Name: "a", Type: columnar.TypeInteger}, {ID: "c2", Name: "b", Type: columnar.TypeText}, {ID: "c3", Name: "c"}}
	after := []Column{{ID: "c1", Name: "a", Type: columnar.TypeDecimal}, {ID: "c2", Name: "renamed", Type: columnar.TypeText}, {ID: "c4", Name: "c"}}
	want := ColumnChanges{Added: []string{"c"}, Removed: []string{"c"}, Widened: []string{"a"}}
	if diff := cmp.Diff(want, CompareColumns(before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ColumnChanges{[]string{}, []string{}, []string{}}, CompareColumns(after, after)); diff != "" {
		t.Errorf("of the same columns (-want +got):\n%s", diff)
	}
}

func TestVersionsAreKept(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for want, v := range map[bool]FeedVersion{true: {StaleAt: at.Add(1)}, false: {StaleAt: at}} {
		if v.Kept(at) != want {
			t.Errorf("a version until %v is kept: %v", v.StaleAt, !want)
		}
	}
	if !(&FeedVersion{}).Kept(at) {
		t.Error("a version without an end is not kept")
	}
	v := FeedVersion{Files: []VersionFile{{Name: "a"}, {Name: "b"}}}
	if got := v.FileNames(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the files are %q", got)
	}
	for keep, want := range map[Keep]Keep{{}: {10, 7}, {Days: 3}: {1, 3}, {Versions: 5}: {5, 0}} {
		if got := keep.Rule(); got != want || keep.For() != time.Duration(want.Days)*24*time.Hour {
			t.Errorf("%+v keeps %+v for %v, want %+v", keep, got, keep.For(), want)
		}
	}
}

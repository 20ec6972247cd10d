package worker_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// joined is a column of CSV in one line.
func joined(csv string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(csv, "a\r\n"), "\r\n"), "\r\n", ",")
}

// Rows that were fetched again are not kept twice, as often as they are there, and
// those that only look like older ones are.
func TestOverlapIsLeftOut(t *testing.T) {
	r, store := reader(t)
	column := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	old := one(t, store, "overlap-old", column, "x", "a", nil, "b", "b")
	fresh := one(t, store, "overlap-new", column, "b", "a", nil, "b", "b", "c", "x", "x")
	for i, test := range []struct {
		overlap *lake.Overlap
		want    string
	}{
		{nil, "x,a,,b,b,b,a,,b,b,c,x,x"},
		{&lake.Overlap{NewTo: 8}, "x,a,,b,b,b,c,x"},
		{&lake.Overlap{OldFrom: 1, NewTo: 5}, "x,a,,b,b,b,c,x,x"},
		{&lake.Overlap{OldFrom: 5, NewTo: 8}, "x,a,,b,b,b,a,,b,b,c,x,x"},
	} {
		c := lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{column}, Overlap: test.overlap}
		got, err := r.Combine(context.Background(), "overlap-combined-"+string(rune('a'+i)), c)
		if err != nil {
			t.Fatal(err)
		}
		if text := joined(read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV)); text != test.want {
			t.Errorf("%+v: %s, want %s", test.overlap, text, test.want)
		}
	}
}

// Rows that are merged and have not changed stay where they are, in whatever order
// they come.
func TestUnchangedRowsStay(t *testing.T) {
	r, store := reader(t)
	column := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	old := one(t, store, "unchanged-old", column, "a", "b", "c")
	fresh := one(t, store, "unchanged-new", column, "c", "b", "a", "d")
	got, err := r.Combine(context.Background(), "unchanged-combined", lake.Combination{Old: old, New: fresh, Columns: []feedmill.Column{column}, Key: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := joined(read(t, r, &got.Version, feedmill.Query{}, wire.FormatCSV)); text != "a,b,c,d" {
		t.Error(text)
	}
}

// A version whose files have no sum, or one that an old release made otherwise, is
// known again by its rows, alone and below others.
func TestSumsOfOldReleases(t *testing.T) {
	r, store := reader(t)
	column := feedmill.Column{ID: "c1", Name: "a", Type: columnar.TypeText}
	version, fresh := one(t, store, "summed", column, "x", nil, "y"), one(t, store, "summed-new", column, "z")
	c := lake.Combination{Old: version, New: fresh, Columns: []feedmill.Column{column}}
	want, err := r.Combine(t.Context(), "summed-both", c)
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{"", "1dee40ec79c023a2198d75031b881ae8"} {
		old := *version
		old.ContentHash, old.Files = "", slices.Clone(version.Files)
		old.Files[0].Sum = sum
		if lake.Summed(old.Files) || !lake.Summed(version.Files) {
			t.Errorf("the sum %q is taken for one of this release, or one of this release is not", sum)
		}
		if got, err := r.Rehash(t.Context(), old); err != nil || got.ContentHash != version.ContentHash {
			t.Errorf("with the sum %q: %s, %v, want %s", sum, got.ContentHash, err, version.ContentHash)
		}
		c.Old = &old
		if got, err := r.Combine(t.Context(), "summed-both"+sum, c); err != nil || got.ContentHash != want.ContentHash || !lake.Summed(got.Files) {
			t.Errorf("with the sum %q: %s, %v, want %s", sum, got.ContentHash, err, want.ContentHash)
		}
	}
}

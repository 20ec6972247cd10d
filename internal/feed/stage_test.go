package feed

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestSweepStages sweeps the staged pages of several fetches: all that are old go, and those
// without an index.
func TestSweepStages(t *testing.T) {
	m := NewMill(Parts{Temp: t.TempDir(), Stages: t.TempDir()})
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": keepStaged, "older": 2 * keepStaged, "young": keepStaged - time.Minute} {
		index := filepath.Join(m.Stages, name, "index")
		if err := os.Mkdir(filepath.Dir(index), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(index, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(m.Stages, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := m.SweepStages(now); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(m.Stages)
	if err != nil || len(left) != 1 || left[0].Name() != "young" {
		t.Errorf("%v is left, %v; want the young one", left, err)
	}
}

// TestMarksAreNotStored leaves the column out that marks deletions, and no other.
func TestMarksAreNotStored(t *testing.T) {
	columns := []feedmill.Column{{ID: "c1", SourceName: "id"}, {ID: "c2", SourceName: "gone"}, {ID: "c3", SourceName: "name"}}
	ids := func(columns []feedmill.Column) (ids []string) {
		for _, c := range columns {
			ids = append(ids, c.ID)
		}
		return ids
	}
	for mark, want := range map[string][]string{"gone": {"c1", "c3"}, "else": {"c1", "c2", "c3"}} {
		d := deletes{marks: &feedmill.PageDeletes{Column: mark}}
		if got := ids(d.stored(columns)); !slices.Equal(got, want) {
			t.Errorf("with marks in %s the columns are %v, want %v", mark, got, want)
		}
	}
	if got := ids(new(deletes).stored(columns)); len(got) != 3 {
		t.Errorf("without marks the columns are %v", got)
	}
}

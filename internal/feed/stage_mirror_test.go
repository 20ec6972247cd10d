package feed

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestStageGoesOnElsewhere has two replicas continue the fetches of each other from what the bucket
// has. A run that has lost its lease adds nothing.
func TestStageGoesOnElsewhere(t *testing.T) {
	shared, ctx := heldMill(t, Room{}), t.Context()
	replica := func() *Mill {
		parts := shared.Parts
		parts.Stages, parts.StageStore = t.TempDir(), parts.Bodies.(StageStore)
		return NewMill(parts)
	}
	one, two := replica(), replica()
	source := func(run int64) feedmill.Source {
		return feedmill.Source{ID: "ds_1", Workspace: "ws_1", Run: run}
	}
	write := func(m *Mill, index, lane string) {
		t.Helper()
		folder := m.stageOf("ds_1")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"lane-0": lane, "index": index} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	holds := func(m *Mill, index, lane string) {
		t.Helper()
		for name, want := range map[string]string{"lane-0": lane, "index": index} {
			got, err := os.ReadFile(filepath.Join(m.stageOf("ds_1"), name))
			if want == "" && os.IsNotExist(err) {
				continue
			}
			if err != nil || string(got) != want {
				t.Errorf("%s has %q, %v; want %q", name, got, err, want)
			}
		}
	}
	files := func() (n int) {
		for _, err := range shared.Blobs.List(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	canceled, cancel := context.WithCancel(ctx)
	first := one.mirrorStage(ctx, source(1))
	write(one, "head\na\n", "page a")
	first.copy(ctx)
	first.copy(ctx) // nothing is new
	write(one, "head\na\nb\n", "page apage b")
	first.stop(ctx, true)
	if files() != 2 {
		t.Errorf("%d parts", files())
	}

	second := two.mirrorStage(canceled, source(2))
	holds(two, "head\na\nb\n", "page apage b")
	write(one, "head\na\nb\nx\n", "page apage bpage x")
	first.copy(ctx) // it has lost its lease
	write(two, "head\na\nb\nc\n", "page apage bpage c")
	cancel()
	second.stop(canceled, true) // a canceled run leaves what it has

	third := one.mirrorStage(ctx, source(3))
	holds(one, "head\na\nb\nc\n", "page apage bpage c")
	// A fetch with another definition begins anew, even if it stages more.
	write(one, "other head\nd\ne\nf\n", "pages d, e and f")
	third.stop(ctx, true)
	fourth := two.mirrorStage(ctx, source(4))
	holds(two, "other head\nd\ne\nf\n", "pages d, e and f")
	if files() != 1 {
		t.Errorf("%d parts", files())
	}
	// A fetch that succeeded copies nothing, and what was staged goes with the commit.
	write(two, "other head\nd\ne\nf\ng\n", "pages d, e and f, page g")
	fourth.stop(ctx, false)
	if files() != 1 {
		t.Errorf("%d parts", files())
	}
	two.Committed(feedmill.Claim{Source: source(4)}, nil)
	if files() != 0 {
		t.Errorf("%d parts after the commit", files())
	}
	fifth := one.mirrorStage(ctx, source(5))
	holds(one, "", "")
	fifth.stop(ctx, false)
}

// TestDamagedStageIsFetchedAgain restores nothing from a part that is missing.
func TestDamagedStageIsFetchedAgain(t *testing.T) {
	m := heldMill(t, Room{})
	m.Stages, m.StageStore = t.TempDir(), m.Bodies.(StageStore)
	ctx, source := t.Context(), feedmill.Source{ID: "ds_1", Workspace: "ws_1", Run: 1}
	folder := m.stageOf("ds_1")
	s := m.mirrorStage(ctx, source)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "index"), []byte("head\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.stop(ctx, true)
	names, err := m.StageStore.TakeStageParts(ctx, "ds_1", 2)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := m.Blobs.Delete(ctx, names[0]); err != nil {
		t.Fatal(err)
	}
	source.Run = 2
	s = m.mirrorStage(ctx, source)
	defer s.stop(ctx, false)
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the stage is there: %v", err)
	}
	if names, err := m.StageStore.TakeStageParts(ctx, "ds_1", 2); err != nil || len(names) != 0 {
		t.Errorf("parts %v, %v", names, err)
	}
}

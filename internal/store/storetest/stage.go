package storetest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Stages are what fetches have done so far, in parts.
type Stages interface {
	// AddStagePart adds a part of a run. It is feedmill.ErrConflict if the number is taken, or if
	// a later run has parts. The file is live from then on.
	AddStagePart(ctx context.Context, workspace, source feedmill.ID, run int64, number int, file string) error
	// TakeStageParts gives the parts of earlier runs to a run, and returns their files in order.
	TakeStageParts(ctx context.Context, source feedmill.ID, run int64) ([]string, error)
	// ForgetStage removes the parts of runs up to one, and returns their files.
	ForgetStage(ctx context.Context, source feedmill.ID, run int64) ([]string, error)
	// OldStages lists sources without a new part for so long.
	OldStages(ctx context.Context, age time.Duration, limit int) ([]feedmill.ID, error)
}

var stageCases = []testCase{
	{name: "a later run has the parts of earlier ones", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		add := func(source feedmill.ID, run int64, number int, file string) error {
			must(t, s.BeginObject(ctx, file, "one", ""))
			return s.AddStagePart(ctx, "ws_1", source, run, number, file)
		}
		take := func(source feedmill.ID, run int64, want ...string) {
			t.Helper()
			got, err := s.TakeStageParts(ctx, source, run)
			must(t, err)
			equal(t, "parts", want, got)
		}
		must(t, add("ds_1", 1, 1, "b"))
		must(t, add("ds_1", 1, 2, "a"))
		must(t, add("ds_2", 1, 1, "c"))
		want(t, add("ds_1", 1, 2, "d"), feedmill.ErrConflict)
		take("ds_1", 2, "b", "a")
		want(t, add("ds_1", 1, 3, "e"), feedmill.ErrConflict)
		take("ds_1", 1)
		must(t, add("ds_1", 2, 3, "f"))
		take("ds_1", 3, "b", "a", "f")
		old, err := s.OldStages(ctx, time.Hour, 9)
		must(t, err)
		equal(t, "old", 0, len(old))
		old, err = s.OldStages(ctx, 0, 9)
		must(t, err)
		equal(t, "old", []feedmill.ID{"ds_1", "ds_2"}, old)
		unknown, err := s.UnknownObjects(ctx, []string{"a", "b", "c", "f", "g"})
		must(t, err)
		equal(t, "unknown", []string{"g"}, unknown)
		files, err := s.ForgetStage(ctx, "ds_1", 2)
		must(t, err)
		equal(t, "forgotten by an earlier run", 0, len(files))
		files, err = s.ForgetStage(ctx, "ds_1", math.MaxInt64)
		must(t, err)
		equal(t, "forgotten", 3, len(files))
		take("ds_1", 4)
		take("ds_2", 4, "c")
	}},
}

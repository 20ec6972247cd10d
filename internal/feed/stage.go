package feed

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill"
)

// keepStaged is how long what is staged of a fetch stays that nobody goes on with.
const keepStaged = 48 * time.Hour

// stageOf is the folder for what is done of a fetch of a source.
func (m *Mill) stageOf(source feedmill.ID) string {
	if m.Stages == "" {
		return ""
	}
	return filepath.Join(m.Stages, string(source))
}

// Committed is told of a run whose outcomes are kept: what was staged for it is
// needed no more.
func (m *Mill) Committed(claim feedmill.Claim, outcomes []feedmill.FeedOutcome) {
	for _, o := range outcomes {
		if o.Error != nil {
			return
		}
	}
	m.forgetStage(claim.Source)
}

// forgetStage removes what was staged for a run of a source.
func (m *Mill) forgetStage(source feedmill.Source) {
	folder := m.stageOf(source.ID)
	if folder == "" {
		return
	}
	if err := os.RemoveAll(folder); err != nil {
		m.Log.Warn("staged files of a run could not be deleted; the next sweep deletes them", "source", source.ID, "error", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), holdTime)
	defer cancel()
	m.forgetParts(ctx, source.ID, source.Run)
}

// forgetOldStages removes what was staged long ago of sources that nobody goes on with.
func (m *Mill) forgetOldStages(ctx context.Context, _ time.Time) (more bool, err error) {
	if m.StageStore == nil {
		return false, nil
	}
	const step = 20
	sources, err := m.StageStore.OldStages(ctx, keepStaged, step)
	for _, source := range sources {
		m.forgetParts(ctx, source, math.MaxInt64)
	}
	return len(sources) == step, err
}

// SweepStages removes what was staged long ago.
func (m *Mill) SweepStages(now time.Time) error {
	if m.Stages == "" {
		return nil
	}
	entries, err := os.ReadDir(m.Stages)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		folder := filepath.Join(m.Stages, entry.Name())
		info, err := os.Stat(filepath.Join(folder, "index"))
		if err == nil && now.Sub(info.ModTime()) < keepStaged {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return nil
}

// FeedRows reads columns of all rows of a feed as it stands, an object a line. A feed
// without data is [feedmill.ErrNotFound].
func (m *Mill) FeedRows(ctx context.Context, workspace, id feedmill.ID, fields []string) (io.ReadCloser, int64, error) {
	feed, err := m.Sourcing.Feed(ctx, workspace, id)
	if err != nil {
		return nil, 0, err
	}
	if feed.Version == 0 {
		return nil, 0, feedmill.ErrNotFound
	}
	v, err := m.Versions.FeedVersion(ctx, workspace, id, feed.Version)
	if err != nil {
		return nil, 0, err
	}
	q := feedmill.Query{}
	for _, name := range fields {
		q.Fields = append(q.Fields, feedmill.Field{Name: name})
	}
	rows, err := m.Rows(ctx, v, q, "ndjson", "")
	return rows.ReadCloser, v.Number, err
}

package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// AddStagePart records the next part of what a run of a source has staged. If the number is taken,
// or a later run has parts, that is [feedmill.ErrConflict].
func (s Store) AddStagePart(ctx context.Context, workspace, source feedmill.ID, run int64, number int, file string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		if err := tx.Send(ctx, s.useObjects(workspace, file)...); err != nil {
			return err
		}
		n, err := tx.Run(ctx, `INSERT INTO stage_parts (source_id, number, workspace_id, run, file, at)
			SELECT CAST(?1 AS text), CAST(?2 AS integer), CAST(?3 AS text), CAST(?4 AS bigint), CAST(?5 AS text), `+s.d.Now+`
			WHERE NOT EXISTS (SELECT 1 FROM stage_parts WHERE source_id = ?1 AND run > ?4)`, source, number, workspace, run, file)
		return orNone(n, err, feedmill.ErrConflict)
	})
}

// TakeStageParts returns the files of what is staged of a source, in their order. From then on,
// earlier runs cannot add to them.
func (s Store) TakeStageParts(ctx context.Context, source feedmill.ID, run int64) (files []string, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		files = nil
		if _, err := tx.Run(ctx, `UPDATE stage_parts SET run = ?2 WHERE source_id = ?1 AND run < ?2`, source, run); err != nil {
			return err
		}
		return tx.Each(ctx, scanNames(&files), `SELECT file FROM stage_parts WHERE source_id = ?1 AND run = ?2 ORDER BY number`, source, run)
	})
	return files, err
}

// ForgetStage removes the parts that runs up to the given one have staged of a source, and returns
// their files, which are to be deleted.
func (s Store) ForgetStage(ctx context.Context, source feedmill.ID, run int64) (files []string, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		files = nil
		return tx.Each(ctx, scanNames(&files), `DELETE FROM stage_parts WHERE source_id = ?1 AND run <= ?2 RETURNING file`, source, run)
	})
	return files, err
}

// OldStages lists up to limit sources of which nothing was staged for so long.
func (s Store) OldStages(ctx context.Context, age time.Duration, limit int) (sources []feedmill.ID, err error) {
	var names []string
	err = s.db.Each(ctx, scanNames(&names), `SELECT source_id FROM stage_parts GROUP BY source_id HAVING `+s.d.Plus("max(at)", age)+` <= `+s.d.Now+` ORDER BY source_id LIMIT ?1`, limit)
	for _, name := range names {
		sources = append(sources, feedmill.ID(name))
	}
	return sources, err
}

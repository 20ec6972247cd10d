package feed

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// Elsewhere is nil where the files that the feeds of a source have now are here, and else
// the error that says that they are not.
func (v *VerifiedFiles) Elsewhere(ctx context.Context, workspace, source feedmill.ID) error {
	names, err := v.sums.SourceFiles(ctx, workspace, source)
	if err != nil {
		return fmt.Errorf("files of a source: %w", err)
	}
	for _, name := range names {
		if err := v.find(ctx, name); err != nil {
			v.lacks.Store(true)
			return lake.Elsewhere(err)
		}
	}
	return nil
}

// find fails where a file is not here.
func (v *VerifiedFiles) find(ctx context.Context, name string) error {
	lease, err := v.Files.Lease(ctx, name)
	if err == nil {
		lease.Release()
	}
	return err
}

// LacksFiles reports whether files are missing of which CountMissing does not know yet.
func (v *VerifiedFiles) LacksFiles() bool { return v.lacks.Load() }

// missingStep is how many files CountMissing lists in one go.
const missingStep = 1000

// CountMissing counts the files of the current versions of feeds that are not in the data
// folder, and logs a warning when there are any and there were none before. The refreshes of
// those feeds are left to the replica that has the files.
func (v *VerifiedFiles) CountMissing(ctx context.Context, before int) (missing int, err error) {
	v.lacks.Store(false)
	total, after := 0, ""
	for {
		names, err := v.sums.CurrentFiles(ctx, after, missingStep)
		if err != nil {
			return before, fmt.Errorf("missing files: %w", err)
		}
		for _, name := range names {
			if err := v.find(ctx, name); err != nil {
				missing++
			}
			after = name
		}
		total += len(names)
		if len(names) < missingStep {
			break
		}
	}
	v.missing.Set(float64(missing))
	if missing > 0 && before == 0 {
		v.log.Warn("files of feeds are missing in this data folder; this replica returns 503 files-elsewhere for them and does not refresh them", "missing", missing, "files", total)
	}
	return missing, nil
}

package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/parquet"
)

// The scrub reads this many bytes a second, in parts of scrubPart.
const (
	scrubRate = 16 << 20
	scrubPart = 1 << 20
)

// Scrub verifies files that were not read in full for [feedmill.ScrubEvery], and gives
// those sums that have none, one after the other and slowly. What fails keeps no other file
// from being verified.
func (v *VerifiedFiles) Scrub(ctx context.Context) error {
	const step = 100
	var failed error
	after := ""
	for {
		names, err := v.sums.UnverifiedFiles(ctx, after, step)
		if err != nil {
			return errors.Join(failed, fmt.Errorf("list files to scrub: %w", err))
		}
		for _, name := range names {
			after = name
			err := v.scrub(ctx, name, false)
			if errors.Is(err, errLocalCopy) {
				err = v.scrub(ctx, name, true)
			}
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, feedmill.ErrNotFound), errors.Is(err, feedmill.ErrDamaged): // it is gone, or was logged
			case err != nil:
				failed = err
			}
		}
		if len(names) < step {
			return failed
		}
	}
}

// scrub reads a file in full. Unless this is the last try, a damaged file that has another copy
// is errLocalCopy.
func (v *VerifiedFiles) scrub(ctx context.Context, name string, last bool) error {
	of, err := v.sums.StoredFile(ctx, name)
	if err != nil {
		return err
	}
	lease, err := v.Files.Lease(ctx, name)
	if err != nil {
		return err
	}
	defer lease.Release()
	file, err := os.Open(lease.Path)
	if err != nil {
		return fmt.Errorf("scrub a file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("scrub a file: %w", err)
	}
	sums, err := parquet.Sum(file, info.Size(), &slowReader{ctx, v, file})
	if err == nil && of.Sums != (feedmill.FileSums{}) && sums != of.Sums {
		err = fmt.Errorf("%w: its SHA-256 is %s", parquet.ErrDamaged, sums.SHA256)
	}
	if errors.Is(err, parquet.ErrDamaged) && !last && v.Files.Refetch(name) {
		return errLocalCopy
	}
	if err != nil {
		return v.noteDamaged(of, info, err)
	}
	v.repaired(name)
	return v.sums.NoteVerified(ctx, name, sums)
}

// noteDamaged has requests fail for a file that the scrub found damaged.
func (v *VerifiedFiles) noteDamaged(of feedmill.StoredFile, info os.FileInfo, cause error) error {
	v.mu.Lock()
	known := v.seen[of.Name]
	v.mu.Unlock()
	if known != nil && os.SameFile(known.file, info) && known.file.ModTime().Equal(info.ModTime()) {
		select {
		case <-known.done:
			if errors.Is(known.err, feedmill.ErrDamaged) {
				return known.err // it was counted
			}
		default:
		}
	}
	err := v.damage(of, cause)
	if errors.Is(err, feedmill.ErrDamaged) {
		v.conclude(of.Name, &verification{file: info, stored: true, err: err})
	}
	return err
}

// slowReader reads at the pace of the scrub.
type slowReader struct {
	ctx  context.Context
	of   *VerifiedFiles
	file io.Reader
}

func (r *slowReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p[:min(len(p), scrubPart)])
	r.of.scrubbed.Add(float64(n))
	select {
	case <-r.ctx.Done():
		return n, context.Cause(r.ctx)
	case <-time.After(time.Duration(n) * time.Second / scrubRate):
	}
	return n, err
}

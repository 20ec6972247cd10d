package feed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/parquet"
)

// Sums knows the sums of stored files.
type Sums interface {
	StoredFile(ctx context.Context, name string) (feedmill.StoredFile, error)
	SourceFiles(ctx context.Context, workspace, source feedmill.ID) ([]string, error)
	NoteVerified(ctx context.Context, name string, sums feedmill.FileSums) error
	CurrentFiles(ctx context.Context, after string, limit int) ([]string, error)
	UnverifiedFiles(ctx context.Context, after string, limit int) ([]string, error)
}

// VerifiedFiles is a folder whose Parquet files are verified when this process first
// reads them, and again when they have changed. What it wrote itself is verified.
type VerifiedFiles struct {
	*RecordedFiles
	sums Sums
	log  *slog.Logger

	damaged  prometheus.Counter
	scrubbed prometheus.Counter
	missing  prometheus.Gauge
	// lacks says that a file was found to be missing since they were counted.
	lacks atomic.Bool

	mu   sync.Mutex
	seen map[string]*verification
	// found are files that were found to be damaged, and not to be right since.
	found map[string]feedmill.StoredFile
}

// verification is what is known of a file as it was at a time.
type verification struct {
	file   os.FileInfo
	done   chan struct{}
	stored bool
	err    error
	// later says that the file has no sums yet and that the scrub will compute them.
	later bool
}

// maxSumNow is how large a file without sums may be for a request to wait until it is
// read in full, which takes some tenths of a second. The scrub reads larger ones.
const maxSumNow = 64 << 20

// maxFound is how many damaged files are listed.
const maxFound = 100

// maxSeen is how many files it is known of that they were verified.
const maxSeen = 100_000

// NewVerifiedFiles verifies the files of a folder.
func NewVerifiedFiles(files *RecordedFiles, sums Sums, log *slog.Logger, metrics prometheus.Registerer) *VerifiedFiles {
	v := &VerifiedFiles{
		RecordedFiles: files, sums: sums, log: log, seen: make(map[string]*verification), found: make(map[string]feedmill.StoredFile),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "feedmill_files_damaged_total", Help: "Stored Parquet files found to be damaged.",
		}),
		scrubbed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "feedmill_files_scrubbed_bytes_total", Help: "Bytes of stored Parquet files read by the scrub.",
		}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "feedmill_files_missing", Help: "Files of current feed versions that are missing in the data folder.",
		}),
	}
	if metrics != nil {
		metrics.MustRegister(v.damaged, v.scrubbed, v.missing)
	}
	return v
}

// Put writes a blob. Its bytes went through this process, so they need no verification.
func (v *VerifiedFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := v.RecordedFiles.Put(ctx, name, write); err != nil {
		return err
	}
	// Where it is not found, it was removed already.
	if lease, err := v.Files.Lease(ctx, name); err == nil {
		defer lease.Release()
		if info, err := os.Stat(lease.Path); err == nil {
			v.conclude(name, &verification{file: info, stored: true})
		}
	}
	return nil
}

// conclude notes what is known of a file.
func (v *VerifiedFiles) conclude(name string, one *verification) {
	one.done = make(chan struct{})
	close(one.done)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remember(name, one)
}

// errLocalCopy is the error of a damaged local copy of a file that has another copy.
var errLocalCopy = errors.New("the local copy of a file is damaged")

// Lease leases a Parquet file once it is verified. A damaged local copy is fetched again.
func (v *VerifiedFiles) Lease(ctx context.Context, name string) (feedmill.FileLease, error) {
	lease, _, err := v.leaseVerified(ctx, name)
	return lease, err
}

// LeaseHead leases an extract of a Parquet file; see [lake.Blobs]. Each range is verified before it is
// used, so that the extract needs no verification.
func (v *VerifiedFiles) LeaseHead(ctx context.Context, name string, size int64, columns []int, rows int64) (lease feedmill.FileLease, ok bool, err error) {
	lease, ok, err = v.Files.Extract(ctx, name, headKey(columns, rows), func(ctx context.Context, from io.ReaderAt, to io.Writer) error {
		of, err := v.sums.StoredFile(ctx, name)
		if err != nil || of.Sums == (feedmill.FileSums{}) {
			return parquet.ErrNoExtract // whoever reads the whole file finds out why
		}
		return parquet.Extract(from, size, of.Sums, columns, rows, to)
	})
	switch {
	case errors.Is(err, parquet.ErrNoExtract):
		return lease, false, nil
	case errors.Is(err, parquet.ErrDamaged):
		if of, failure := v.sums.StoredFile(ctx, name); failure == nil {
			err = v.damage(of, err)
		}
	}
	return lease, ok, err
}

// headKey names an extract.
func headKey(columns []int, rows int64) string {
	sum := sha256.Sum256(fmt.Append(nil, columns))
	return strconv.FormatInt(rows, 10) + "-" + hex.EncodeToString(sum[:8])
}

// Verify verifies a file, or waits for another request that does.
func (v *VerifiedFiles) Verify(ctx context.Context, name string) (stored bool, err error) {
	lease, stored, err := v.leaseVerified(ctx, name)
	if err == nil {
		lease.Release()
	}
	return stored, err
}

func (v *VerifiedFiles) leaseVerified(ctx context.Context, name string) (lease feedmill.FileLease, stored bool, err error) {
	for _, last := range []bool{false, true} {
		if lease, err = v.Files.Lease(ctx, name); err != nil {
			return feedmill.FileLease{}, false, v.damagedCopy(ctx, name, err)
		}
		if stored, err = v.verifyAt(ctx, lease.Path, name, last); err == nil {
			return lease, stored, nil
		}
		lease.Release()
		if !errors.Is(err, errLocalCopy) {
			break
		}
	}
	return feedmill.FileLease{}, stored, err
}

// damagedCopy adds the versions of a file to the error of one that arrived damaged.
func (v *VerifiedFiles) damagedCopy(ctx context.Context, name string, err error) error {
	if !errors.Is(err, feedmill.ErrDamaged) {
		return err
	}
	of, failure := v.sums.StoredFile(ctx, name)
	if failure != nil {
		return err
	}
	return v.damage(of, fmt.Errorf("%w: %w", parquet.ErrDamaged, err))
}

// verifyAt verifies a file at a path. Unless this is the last try, a damaged file that has
// another copy is errLocalCopy.
func (v *VerifiedFiles) verifyAt(ctx context.Context, path, name string, last bool) (stored bool, err error) {
	for {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) && !last && v.Files.Refetch(name) {
			return false, errLocalCopy
		}
		if err != nil {
			return false, fmt.Errorf("verify a file: %w", err)
		}
		one, begun := v.begin(name, info)
		if begun {
			one.err = v.verify(ctx, path, name, one, last)
			v.end(name, one)
			return one.stored, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if one.err == nil || errors.Is(one.err, feedmill.ErrDamaged) {
			return one.stored, one.err
		}
		// It could not be read or its request was canceled: this one tries.
	}
}

// begin finds the verification of a file as it is, or begins one.
func (v *VerifiedFiles) begin(name string, info os.FileInfo) (one *verification, begun bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one = v.seen[name]
	if one != nil && os.SameFile(one.file, info) && one.file.Size() == info.Size() && one.file.ModTime().Equal(info.ModTime()) {
		return one, false
	}
	one = &verification{file: info, done: make(chan struct{})}
	v.remember(name, one)
	return one, true
}

// remember notes a verification. Where there are too many, another is done again
// when it is needed. The files are locked.
func (v *VerifiedFiles) remember(name string, one *verification) {
	if _, ok := v.seen[name]; !ok && len(v.seen) >= maxSeen {
		for other := range v.seen {
			delete(v.seen, other)
			break
		}
	}
	v.seen[name] = one
}

// end ends a verification. Only what is known of a file that versions have is kept.
func (v *VerifiedFiles) end(name string, one *verification) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[name] == one && (!one.stored || one.later || one.err != nil && !errors.Is(one.err, feedmill.ErrDamaged)) {
		delete(v.seen, name)
	}
	close(one.done)
}

// verify reads a file and compares it with its sums. A file without sums gets them.
func (v *VerifiedFiles) verify(ctx context.Context, path, name string, one *verification, last bool) error {
	of, err := v.sums.StoredFile(ctx, name)
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil // it is being written, or was
	}
	if err != nil {
		return fmt.Errorf("sums of a file: %w", err)
	}
	one.stored = true
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("verify a file: %w", err)
	}
	defer file.Close()
	size := one.file.Size()
	if of.Sums != (feedmill.FileSums{}) {
		err := parquet.Verify(file, size, of.Sums)
		if errors.Is(err, parquet.ErrDamaged) && !last && v.Files.Refetch(name) {
			return errLocalCopy
		}
		if err == nil {
			v.repaired(name)
		}
		return v.damage(of, err)
	}
	if one.later = size > maxSumNow; one.later {
		return nil
	}
	sums, err := parquet.Sum(file, size, file)
	if err != nil {
		return v.damage(of, err)
	}
	return v.sums.NoteVerified(ctx, name, sums)
}

// repaired notes that a file is as it was written.
func (v *VerifiedFiles) repaired(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.found, name)
}

// Damaged lists up to 100 files of versions that were found to be damaged, and not to be right since.
func (v *VerifiedFiles) Damaged(ctx context.Context) (all []feedmill.StoredFile) {
	v.mu.Lock()
	names := slices.Sorted(maps.Keys(v.found))
	v.mu.Unlock()
	for _, name := range names {
		switch of, err := v.sums.StoredFile(ctx, name); {
		case err == nil:
			all = append(all, of)
		case errors.Is(err, feedmill.ErrNotFound): // no version has it any more
			v.repaired(name)
		}
	}
	return all
}

// damage is the error of a file that could not be verified; it counts those that are
// damaged.
func (v *VerifiedFiles) damage(of feedmill.StoredFile, err error) error {
	if err == nil || !errors.Is(err, parquet.ErrDamaged) && !errors.Is(err, syscall.EIO) {
		return err
	}
	v.damaged.Inc()
	v.mu.Lock()
	if len(v.found) < maxFound {
		v.found[of.Name] = of
	}
	v.mu.Unlock()
	versions := fmt.Sprintf("version %d", of.First)
	if of.Last > of.First {
		versions = fmt.Sprintf("versions %d to %d", of.First, of.Last)
	}
	v.log.Error("a stored file is damaged; restore it from a backup", "file", of.Name, "feed", of.Feed, "first_version", of.First, "last_version", of.Last, "error", err)
	return fmt.Errorf("%w (%s: %w)", &feedmill.Error{
		Kind: feedmill.ErrDamaged,
		Detail: fmt.Sprintf("A file of %s of feed %s is damaged. Other versions can still be read. "+
			"Load the data again, or ask the operator to restore the file from a backup; the server log names it.", versions, of.Feed),
	}, of.Name, err)
}

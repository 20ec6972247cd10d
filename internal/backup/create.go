package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Options are those of a backup.
type Options struct {
	// Release is the version of this program.
	Release string
	// Log includes finished deliveries of PostgreSQL.
	Log bool
	// Temp is a folder for temporary files.
	Temp string
	// Assign is the id of the store if it has none.
	Assign string
	// Lease is how long the pin protects files if it is not renewed, 10 minutes if it is zero.
	Lease time.Duration
}

const (
	// DefaultLease is how long a pin lasts that is not renewed.
	DefaultLease = feedmill.PinLease
	// keepUnfinished is how long records without a manifest stay at the target. Another backup
	// can still be writing them.
	keepUnfinished = 24 * time.Hour
)

// Result is what a backup did.
type Result struct {
	*Manifest
	// Copied is how many files the target did not have, and CopiedBytes their size.
	Copied      int
	CopiedBytes int64
}

// Create copies the records of a store and the files that they name. If a file is missing or
// damaged, it copies the others and returns [Findings] without a backup.
func Create(ctx context.Context, from Records, files, to Files, o Options) (r Result, err error) {
	store, err := from.StoreID(ctx, o.Assign)
	if err != nil {
		return r, err
	}
	at, err := prepare(ctx, to, store)
	if err != nil {
		return r, err
	}
	m := &Manifest{
		Format: manifestFormat, ID: string(feedmill.NewID(feedmill.PrefixBackup)), Store: store, Release: o.Release, WithLog: o.Log,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	err = Pinned(ctx, from, m.ID, o.Lease, func(ctx context.Context) error {
		var s feedmill.Snapshot
		m.Records, err = writeRecords(ctx, to, m.ID, func(w io.Writer) error {
			s, err = from.Snapshot(ctx, o.Temp, o.Log, w)
			return err
		})
		if err != nil {
			return fmt.Errorf("copy the records: %w", err)
		}
		m.Engine, m.Schema, m.Keyset = s.Engine, s.Schema, s.Keyset
		m.WithLog = m.WithLog || s.Engine == feedmill.EngineSQLite
		r, err = copyFiles(ctx, s.Files, files, to, at, m)
		return err
	})
	if err != nil {
		return r, err
	}
	m.FinishedAt = time.Now().UTC().Truncate(time.Millisecond)
	r.Manifest = m
	return r, m.write(ctx, to)
}

// errTarget is the error of a target that has something else than backups of the store.
var errTarget = errors.New("use an empty folder or prefix, or the one with earlier backups of this store")

// prepare makes a target ready for backups of a store.
func prepare(ctx context.Context, to Files, store string) (at content, err error) {
	if at, err = list(ctx, to); err != nil {
		return at, err
	}
	owner, err := to.Owner(ctx)
	if err != nil {
		return at, err
	}
	switch own := "backups of " + store; {
	case owner == own:
	case owner != "":
		return at, fmt.Errorf("the target does not have backups of this store (%s), but is claimed by: %s; %w", store, owner, errTarget)
	case len(at.names) > 0:
		return at, fmt.Errorf("the target is not empty and has no backups; %w", errTarget)
	default:
		if err := to.SetOwner(ctx, own); err != nil {
			return at, err
		}
	}
	return at, sweep(ctx, to, at)
}

// sweep removes what backups that did not finish have left behind.
func sweep(ctx context.Context, to Files, at content) error {
	before := time.Now().Add(-keepUnfinished)
	if _, err := to.Sweep(ctx, before); err != nil {
		return err
	}
	for name := range at.names {
		if !strings.HasPrefix(name, recordsFolder) {
			continue
		}
		id := path.Base(path.Dir(name))
		if began := feedmill.ID(id).Time(); began.IsZero() || !began.Before(before) || at.names[manifestName(id)] {
			continue
		}
		if err := to.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// copyFiles copies those files that the target does not have, and lists all of them in the
// manifest.
func copyFiles(ctx context.Context, kept []feedmill.KeptFile, files, to Files, at content, m *Manifest) (r Result, err error) {
	known := make(map[string]Part)
	if n := len(at.backups); n > 0 {
		// Without a manifest that can be read, the files are read.
		if last, err := ReadManifest(ctx, to, at.backups[n-1]); err == nil {
			for _, part := range last.Files {
				known[part.Name] = part
			}
		}
	}
	m.Files = make([]Part, len(kept))
	copied := make([]bool, len(kept))
	err = each(ctx, len(kept), func(ctx context.Context, i int) (_ *Finding, err error) {
		f, name := kept[i], filesFolder+kept[i].Name
		part, ok := known[f.Name]
		ok = ok && at.names[name] && mismatch(f, part) == ""
		if !ok && at.names[name] {
			if part, ok, err = has(ctx, to, name, f); err != nil {
				return nil, err
			}
		}
		if !ok {
			var found string
			if part, found, err = copyFile(ctx, files, f, to, name, f.Name); err != nil || found != "" {
				return finding(f, found), err
			}
			copied[i] = true
		}
		part.Name = f.Name
		m.Files[i] = part
		return nil, nil
	})
	for i := range copied {
		if copied[i] {
			r.Copied++
			r.CopiedBytes += m.Files[i].Bytes
		}
	}
	return r, err
}

func finding(f feedmill.KeptFile, problem string) *Finding {
	if problem == "" {
		return nil
	}
	return &Finding{f, problem}
}

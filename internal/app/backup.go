package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/backup"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/config"
	"github.com/feedmill/feedmill/internal/machine"
	"github.com/feedmill/feedmill/internal/store/postgres"
	"github.com/feedmill/feedmill/internal/store/sqlite"
)

// commandFolder has the temporary files of commands that read a store beside its server.
const commandFolder = "command"

// attachedStore is a store that is used beside its server.
type attachedStore interface {
	backup.Records
	backup.Moves
	// Origin identifies the database.
	Origin(ctx context.Context) (string, error)
	// Processes are the servers that have reported since a time.
	Processes(ctx context.Context, since time.Time) ([]feedmill.ProcessReport, error)
	Resume(ctx context.Context) (was bool, err error)
	Close() error
}

// attached is a store with its files, for commands beside its server.
type attached struct {
	store attachedStore
	files location
	temp  string
	close []func() error
}

// location is a folder or bucket with files.
type location interface {
	backup.Files
	Close() error
}

func (a *attached) Close() error {
	var errs []error
	for i := len(a.close) - 1; i >= 0; i-- {
		errs = append(errs, a.close[i]())
	}
	return errors.Join(errs...)
}

// attach opens the store and its files beside a server, which can run.
func attach(ctx context.Context, c *config.Config) (_ *attached, err error) {
	a := new(attached)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.store, err = attachStore(ctx, c); err != nil {
		return nil, err
	}
	a.close = append(a.close, a.store.Close)
	if a.temp, err = a.tempFolder(c.Data); err != nil {
		return nil, err
	}
	if c.BlobURL == "" {
		folder := filepath.Join(c.Data, blobFolder)
		if _, err := os.Stat(folder); err != nil {
			return nil, fmt.Errorf("data folder %s has no folder %s with the files of feeds; set --data to the folder of the server that has them", c.Data, blobFolder)
		}
		a.files, err = blob.Open(folder)
	} else {
		a.files, err = openBucket(ctx, c, c.BlobURL, filepath.Join(a.temp, "files"))
	}
	if err != nil {
		return nil, err
	}
	a.close = append(a.close, a.files.Close)
	return a, nil
}

// attachCurrent is attach, for files that were not moved away.
func attachCurrent(ctx context.Context, c *config.Config) (*attached, error) {
	a, err := attach(ctx, c)
	if err != nil {
		return nil, err
	}
	held, err := a.files.Owner(ctx)
	if err == nil && blob.Retired(held) {
		_, place, failure := a.store.FileLocation(ctx)
		err = errors.Join(failure, movedAway(place))
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func attachStore(ctx context.Context, c *config.Config) (attachedStore, error) {
	if c.DatabaseURL != "" {
		return asAttached(postgres.Attach(ctx, c.DatabaseURL))
	}
	file := filepath.Join(c.Data, storeFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, noStore(c.Data)
	}
	return asAttached(sqlite.Attach(ctx, file))
}

// asAttached keeps a nil pointer from becoming a store that is not nil.
func asAttached[S attachedStore](s S, err error) (attachedStore, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// tempFolder returns an empty folder for temporary files, below the data folder if there is one.
// What a process left there that was killed is removed.
func (a *attached) tempFolder(data string) (string, error) {
	if _, err := os.Stat(data); err != nil {
		temp, err := os.MkdirTemp("", "feedmill-")
		if err == nil {
			a.close = append(a.close, func() error { return os.RemoveAll(temp) })
		}
		return temp, err
	}
	folder := filepath.Join(data, commandFolder)
	lock, err := machine.LockFolder(folder)
	if errors.Is(err, machine.ErrInUse) {
		return "", fmt.Errorf("another command reads the files of data folder %s; run this one when it has finished", data)
	}
	if err != nil {
		return "", err
	}
	temp := filepath.Join(folder, "temp")
	a.close = append(a.close, func() error { return errors.Join(os.RemoveAll(temp), lock.Unlock()) })
	if err := os.RemoveAll(temp); err != nil {
		return "", err
	}
	return temp, os.Mkdir(temp, 0o700)
}

// openBucket opens a bucket for a command, without a cache that outlives it.
func openBucket(ctx context.Context, c *config.Config, url, temp string) (*blob.Bucket, error) {
	at, err := blob.ParseLocation(url)
	if err != nil {
		return nil, fmt.Errorf("the URL of a bucket %w", err)
	}
	return openCheckedBucket(ctx, blob.BucketOptions{Location: at, AccessKey: c.BlobAccessKey, SecretKey: c.BlobSecretKey, Cache: temp})
}

// openCheckedBucket opens a bucket that responds.
func openCheckedBucket(ctx context.Context, o blob.BucketOptions) (*blob.Bucket, error) {
	bucket, err := blob.OpenBucket(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := bucket.Check(ctx); err != nil {
		return nil, errors.Join(err, bucket.Close())
	}
	return bucket, nil
}

// openLocation opens a folder or bucket with backups.
func openLocation(ctx context.Context, c *config.Config, text, temp string) (location, error) {
	if strings.HasPrefix(text, "s3://") {
		return openBucket(ctx, c, text, filepath.Join(temp, "backups"))
	}
	if strings.Contains(text, "://") {
		return nil, fmt.Errorf("%q is not a folder or the URL of a bucket (s3://…)", text)
	}
	return blob.Open(text)
}

// openBackups opens a folder or bucket that has backups.
func openBackups(ctx context.Context, c *config.Config, text, temp string) (location, error) {
	if !strings.Contains(text, "://") {
		if _, err := os.Stat(text); err != nil {
			return nil, err
		}
		if entries, err := os.ReadDir(filepath.Join(text, "backups")); err != nil || len(entries) == 0 {
			return nil, fmt.Errorf("%s has no backups; check the folder or URL", text)
		}
	}
	return openLocation(ctx, c, text, temp)
}

// Backup copies the records of a store and the files that they name to a folder or bucket. The
// server can run.
func Backup(ctx context.Context, c *config.Config, target, release string, log bool, out io.Writer) (err error) {
	a, err := attachCurrent(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := usableTarget(target); err != nil {
		return err
	}
	to, err := openLocation(ctx, c, target, a.temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	r, err := backup.Create(ctx, a.store, a.files, to, backup.Options{Release: release, Log: log, Temp: a.temp, Assign: strings.ToLower(rand.Text())})
	if found, ok := errors.AsType[backup.Findings](err); ok {
		return fmt.Errorf("no backup was created, because %w\nRestore these files from an earlier backup, or keep fewer versions of their feeds. Earlier backups are unchanged", found)
	}
	if err != nil {
		return fmt.Errorf("no backup was created: %w", err)
	}
	_, err = fmt.Fprintf(out, "Backup %s has %d files of feeds; %d files (%d bytes) were copied.\n", r.ID, len(r.Files), r.Copied, r.CopiedBytes)
	return err
}

// usableTarget refuses a folder with other files before anything is written to it.
func usableTarget(target string) error {
	if strings.Contains(target, "://") {
		return nil
	}
	entries, err := os.ReadDir(target)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == ".store" || entry.Name() == ".tmp" {
			return nil // backup.Create checks which store it belongs to
		}
	}
	return fmt.Errorf("%s is not empty and has no backups; use an empty folder, or the one with earlier backups of this store", target)
}

// VerifyBackups reads all backups in a folder or bucket.
func VerifyBackups(ctx context.Context, c *config.Config, source string, out io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "feedmill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	from, err := openBackups(ctx, c, source, temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	all, err := backup.Verify(ctx, from)
	for _, m := range all {
		if _, err := fmt.Fprintf(out, "%s  %s  %s  %d files\n", m.ID, m.CreatedAt.Format("2006-01-02 15:04:05Z"), m.Engine, len(m.Files)); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(out, "All backups are complete and undamaged.")
	}
	return err
}

// CheckFiles checks that all files of a store exist and are undamaged. The server can run.
func CheckFiles(ctx context.Context, c *config.Config, deep bool, out io.Writer) (err error) {
	a, err := attachCurrent(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var checked backup.Checked
	// Without a pin, a file could be deleted after it was listed.
	err = backup.Pinned(ctx, a.store, "check "+rand.Text(), backup.DefaultLease, func(ctx context.Context) error {
		checked, err = backup.Check(ctx, a.store, a.files, deep)
		return err
	})
	found, damaged := errors.AsType[backup.Findings](err)
	if err != nil && !damaged {
		return err
	}
	what := "exist and have their sizes"
	if deep {
		what = "exist and have their checksums"
	}
	if _, err := fmt.Fprintf(out, "%d of %d files (%d bytes) %s.\n", checked.Files-len(found), checked.Files, checked.Bytes, what); err != nil {
		return err
	}
	if deep && checked.Unsummed > 0 {
		if _, err := fmt.Fprintf(out, "Without a recorded checksum, and therefore only read: %d.\n", checked.Unsummed); err != nil {
			return err
		}
	}
	return err
}

// Resume lets a restored store send deliveries and run refreshes.
func Resume(ctx context.Context, c *config.Config, out io.Writer) (err error) {
	s, err := attachStore(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	was, err := s.Resume(ctx)
	if err != nil {
		return err
	}
	text := "The store is not paused.\n"
	if was {
		text = "The store sends deliveries and runs refreshes again.\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

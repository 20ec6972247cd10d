package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/feed"
	"github.com/feedmill/feedmill/internal/machine"
)

// fileStore is the folder or bucket with the files of feeds.
type fileStore interface {
	feed.Files
	// Claim records that the files belong to a store. It fails if they belong to another store.
	Claim(ctx context.Context, store string) error
	// Dir is the folder with the files, or with local copies of them.
	Dir() string
	Close() error
}

// openFiles opens the folder or bucket with the files of feeds. A bucket that refuses the
// configuration is an error; one that does not respond is a warning.
func (a *App) openFiles(ctx context.Context, data, temp string, room feed.Room, m machine.Memory, metrics prometheus.Registerer) (files fileStore, bucket *blob.Bucket, err error) {
	if a.config.BlobURL == "" {
		folder, err := blob.Open(filepath.Join(data, blobFolder))
		if err != nil {
			return nil, nil, fmt.Errorf("data folder: %w", err)
		}
		folder.Take, folder.Large = room.Disk.Take, m.Draft
		return folder, nil, nil
	}
	at, err := blob.ParseLocation(a.config.BlobURL)
	if err != nil {
		return nil, nil, a.config.Wrong("blobUrl", err)
	}
	cache := a.config.Cache
	if cache == "" {
		cache = filepath.Join(data, cacheFolder)
	}
	if err := onOneDisk(cache, temp); err != nil {
		return nil, nil, a.config.Wrong("cache", err)
	}
	size, err := machine.DiskSize(cache)
	if err != nil {
		return nil, nil, err
	}
	bucket, err = blob.OpenBucket(ctx, blob.BucketOptions{
		Location: at, AccessKey: a.config.BlobAccessKey, SecretKey: a.config.BlobSecretKey,
		Cache: cache, CacheBytes: min(int64(a.config.CacheBytes), size/2), Take: room.Disk.Take, Large: m.Draft, Metrics: metrics,
	})
	if err != nil {
		return nil, nil, err
	}
	refused, err := bucket.Check(ctx)
	if refused {
		return nil, nil, errors.Join(err, bucket.Close())
	}
	if err != nil {
		a.log.Warn("the bucket with the files of feeds does not respond; feeds are limited to cached data until it does", "bucket", bucket.String(), "error", err)
	}
	return bucket, bucket, nil
}

// onOneDisk refuses a cache from which files cannot be linked into the folder of the workers,
// because each query would copy them.
func onOneDisk(cache, temp string) error {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	probe, err := os.CreateTemp(cache, ".probe")
	if err != nil {
		return err
	}
	defer os.Remove(probe.Name())
	if err := probe.Close(); err != nil {
		return err
	}
	link := filepath.Join(temp, filepath.Base(probe.Name()))
	err = os.Link(probe.Name(), link)
	if errors.Is(err, syscall.EXDEV) {
		return fmt.Errorf("%s is on another file system than %s; choose a folder on the same one", cache, temp)
	}
	_ = os.Remove(link)
	return nil // other file systems without links copy files anyway
}

// watchBucket reports outages of the bucket. It looks for their end, so that /readyz reports it
// even if nobody uses a feed.
func (a *App) watchBucket(ctx context.Context, bucket *blob.Bucket) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for outage := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		switch err := bucket.Outage(); {
		case err != nil:
			if problem := "does not respond"; !outage {
				if blob.Denied(err) {
					problem = "denies access; check FEEDMILL_BLOB_ACCESS_KEY, FEEDMILL_BLOB_SECRET_KEY and the permissions of the key"
				}
				a.log.Warn("the bucket with the files of feeds "+problem, "bucket", bucket.String(), "error", err)
			}
			outage = true
			_, _ = bucket.Check(ctx) // which records the result
		case outage:
			outage = false
			a.log.Info("the bucket with the files of feeds responds again", "bucket", bucket.String())
		}
	}
}

// claimOf is what the location with the files of a store holds: the id of the store, for a bucket
// its database, and for files that were moved the id of the location.
func claimOf(store, origin, location string, bucket bool) string {
	if bucket {
		// A copy of the database has the same id, and is another database.
		store += " " + origin
	}
	if location != "" {
		store += " " + location
	}
	return store
}

// claim records that the files belong to the store, and refuses those of another store. What
// an earlier process of this replica was writing is unreferenced.
func (a *App) claim(ctx context.Context, f *feeds, assign string) error {
	id, err := a.store.StoreID(ctx, assign)
	if err != nil {
		return err
	}
	origin, err := a.store.Origin(ctx)
	if err != nil {
		return err
	}
	location, place, err := a.store.FileLocation(ctx)
	if err != nil {
		return err
	}
	if place != "" && strings.Contains(place, "://") != (f.bucket != nil) {
		return movedAway(place)
	}
	if err := f.blobs.Claim(ctx, claimOf(id, origin, location, f.bucket != nil)); err != nil {
		if place != "" {
			err = fmt.Errorf("%w; the files of this store were moved to %s", err, place)
		}
		return err
	}
	err = f.AbandonFiles(ctx, f.holder)
	if err != nil && f.bucket != nil && f.bucket.Outage() != nil {
		a.log.Warn("interrupted uploads could not be inspected; they expire in 10 minutes", "error", err)
		return nil
	}
	return err
}

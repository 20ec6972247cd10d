package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/backup"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/config"
)

// replicaSilence is how long ago a replica has reported that still counts as running.
const replicaSilence = time.Minute

// MoveFiles copies the files of a store to another folder or bucket and records that they are there.
// Servers can run; they are restarted with the new location afterwards.
func MoveFiles(ctx context.Context, c *config.Config, target, credentials, release string, out io.Writer) (err error) {
	a, err := attach(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := sameRelease(ctx, a.store, release); err != nil {
		return err
	}
	to, place, err := openMoveTarget(ctx, c, target, credentials, a.temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	location, _, err := a.store.FileLocation(ctx)
	if err != nil {
		return err
	}
	from, next, err := moveClaims(ctx, a, location, to, place)
	if err != nil {
		return err
	}
	held, err := to.Owner(ctx)
	if err != nil {
		return err
	}
	id, err := next.begin(ctx, to, held)
	if err != nil {
		return fmt.Errorf("the target %s is refused: %w", place, err)
	}
	var moved backup.Moved
	if id != location { // else the command was interrupted after the switch
		moved, err = backup.Move(ctx, a.store, a.files, to, backup.MoveOptions{
			From: location, To: id, Place: place,
			Progress: func(m backup.Moved) { _, _ = fmt.Fprintf(out, "%d files are at the target.\n", m.Files) },
		})
		if found, ok := errors.AsType[backup.Findings](err); ok {
			return fmt.Errorf("the files were not moved, because %w\nRestore these files from a backup, or delete the versions that have them. Servers use the former location", found)
		}
		if err != nil {
			return fmt.Errorf("the files were not moved: %w", err)
		}
	}
	if err := to.SetOwner(ctx, next.claim(id)); err != nil {
		return err
	}
	if err := a.files.SetOwner(ctx, blob.RetiredClaim(from)); err != nil {
		return err
	}
	setting := "FEEDMILL_BLOB_URL=" + target
	if !strings.Contains(target, "://") {
		setting = "FEEDMILL_BLOB_URL unset and FEEDMILL_DATA=" + filepath.Dir(place)
	}
	_, err = fmt.Fprintf(out, "The files of feeds are at %s; %d files (%d bytes) were copied.\nRestart all servers with %s. Until then they refuse new data.\n", place, moved.Copied, moved.Bytes, setting)
	return err
}

// sameRelease refuses a move beside a server of another release, which may not notice it.
func sameRelease(ctx context.Context, s attachedStore, release string) error {
	running, err := s.Processes(ctx, time.Now().Add(-replicaSilence))
	if err != nil {
		return err
	}
	for _, p := range running {
		var report struct{ Name, Version string }
		if err := json.Unmarshal(p.Text, &report); err != nil {
			return err
		}
		if report.Version != release {
			return fmt.Errorf("replica %s runs version %s, and this program is %s; upgrade all replicas first", report.Name, report.Version, release)
		}
	}
	return nil
}

// openMoveTarget opens the target of a move. A folder must be the one that a server uses.
func openMoveTarget(ctx context.Context, c *config.Config, target, credentials, temp string) (to location, place string, err error) {
	if strings.Contains(target, "://") {
		at, err := blob.ParseLocation(target)
		if err != nil {
			return nil, "", fmt.Errorf("--to %w", err)
		}
		o := blob.BucketOptions{Location: at, AccessKey: c.BlobAccessKey, SecretKey: c.BlobSecretKey, Cache: filepath.Join(temp, "target")}
		if credentials != "" {
			if _, err := os.Stat(credentials); err != nil {
				return nil, "", fmt.Errorf("--to-credentials: %w", err)
			}
			o.AccessKey, o.SecretKey, o.CredentialsFile = "", "", credentials
		}
		bucket, err := openCheckedBucket(ctx, o)
		if err != nil {
			return nil, "", err
		}
		return bucket, bucket.String(), nil
	}
	if place, err = filepath.Abs(target); err != nil {
		return nil, "", err
	}
	if filepath.Base(place) != blobFolder {
		return nil, "", fmt.Errorf("--to must be the folder %s in the data folder of a server, such as %s; got %s", blobFolder, filepath.Join(c.Data, blobFolder), target)
	}
	to, err = blob.Open(place)
	return to, place, err
}

// moveClaims checks that the files belong to the store. It returns their claim, and what the target
// can hold.
func moveClaims(ctx context.Context, a *attached, location string, to location, place string) (from string, next moveClaim, err error) {
	id, err := a.store.StoreID(ctx, strings.ToLower(rand.Text()))
	if err != nil {
		return "", next, err
	}
	origin, err := a.store.Origin(ctx)
	if err != nil {
		return "", next, err
	}
	claim := func(files any, location string) string {
		_, bucket := files.(*blob.Bucket)
		return claimOf(id, origin, location, bucket)
	}
	next = moveClaim{current: location, claim: func(location string) string { return claim(to, location) }}
	held, err := a.files.Owner(ctx)
	if err != nil {
		return "", next, err
	}
	from = claim(a.files, location)
	if held == from {
		return from, next, nil
	}
	if blob.FirstClaim(held) != claim(a.files, "") {
		return "", next, fmt.Errorf("the files do not belong to this store, but to: %s; check --data and FEEDMILL_BLOB_URL", held)
	}
	// If the target is the recorded location, the command was interrupted after the switch.
	if _, at, err := a.store.FileLocation(ctx); err != nil || at != place {
		return "", next, errors.Join(err, movedAway(at))
	}
	return held, next, nil
}

// moveClaim is what the target of a move can hold.
type moveClaim struct {
	// current is the id of the location that the files are at.
	current string
	// claim is the claim of the target as the location with an id.
	claim func(location string) string
}

// begin claims the target and returns the id of its location. It continues an interrupted move.
func (m moveClaim) begin(ctx context.Context, to location, held string) (id string, err error) {
	if claim, ok := blob.ParseCopyClaim(held); ok {
		if id = blob.LocationOf(claim); id == "" || claim != m.claim(id) {
			return "", errors.New("another store is being moved there; use an empty folder or prefix")
		}
		return id, nil
	}
	switch {
	case held == "":
		for name, err := range to.List(ctx) {
			if err != nil {
				return "", err
			}
			return "", fmt.Errorf("it is not empty, but has %s; use an empty folder or prefix", name)
		}
	case held == m.claim(m.current):
		return "", errors.New("the files of this store are there already")
	case blob.FirstClaim(held) == m.claim(""): // it had the files earlier
	default:
		return "", fmt.Errorf("it has the files of another store (%s); use an empty folder or prefix", held)
	}
	id = blob.NewLocation()
	return id, to.SetOwner(ctx, blob.CopyClaim(m.claim(id)))
}

// movedAway is the error of files that are at another place than the settings name.
func movedAway(place string) error {
	if strings.Contains(place, "://") {
		return fmt.Errorf("the files of this store were moved to %s; set FEEDMILL_BLOB_URL to that bucket", place)
	}
	return fmt.Errorf("the files of this store were moved to %s; set FEEDMILL_DATA to %s and do not set FEEDMILL_BLOB_URL", place, filepath.Dir(place))
}

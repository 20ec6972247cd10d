package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/feedmill/feedmill"
)

// owner is the name of the file with the id of the store that the files belong to.
const owner = ".store"

// restoring follows the id of the store in the claim of a restore that has not finished.
const restoring = " restoring "

// RestoreClaim is the claim of a restore of a backup. The store of the claim takes it over;
// another store is refused.
func RestoreClaim(store, backup string) string { return store + restoring + backup }

// ParseRestoreClaim returns the store and the backup of the claim of a restore. It reports whether
// the claim is one of a restore.
func ParseRestoreClaim(claim string) (store, backup string, ok bool) {
	return strings.Cut(claim, restoring)
}

// restoredFor reports whether a claim is that of a restore of a store, of which the claim may
// not name the database yet.
func restoredFor(claim, store string) bool {
	of, _, ok := ParseRestoreClaim(claim)
	return ok && (of == store || strings.HasPrefix(store, of+" "))
}

// Claim records that the files belong to a store. It fails if they belong to another store.
func (f *Folder) Claim(ctx context.Context, store string) error {
	held, err := f.Owner(ctx)
	if err != nil {
		return err
	}
	if held == store {
		return nil
	}
	if held != "" && !restoredFor(held, store) {
		if _, ok := ParseCopyClaim(held); ok {
			return fmt.Errorf("%s: %w", f.Dir(), errCopying)
		}
		return fmt.Errorf("%s has the files of another store (%s), and this store is %s; restore the folder that belongs to this database", f.Dir(), held, store)
	}
	return f.SetOwner(ctx, store)
}

// Owner is the store that the files belong to, empty if there is none.
func (f *Folder) Owner(context.Context) (string, error) {
	held, err := f.root.ReadFile(owner)
	if err := ignore(err, fs.ErrNotExist); err != nil {
		return "", fmt.Errorf("claim blob folder: %w", classify(err))
	}
	return strings.TrimSpace(string(held)), nil
}

// SetOwner records the store that the files belong to, in place of another.
func (f *Folder) SetOwner(ctx context.Context, store string) error {
	d, err := f.begin(owner)
	if err != nil {
		return fmt.Errorf("claim blob folder: %w", err)
	}
	defer d.Close()
	if _, err := d.Write([]byte(store + "\n")); err != nil {
		return fmt.Errorf("claim blob folder: %w", err)
	}
	err = context.Cause(ctx)
	if err == nil {
		err = d.file.Sync()
	}
	if err == nil {
		err = errors.Join(f.root.Rename(d.temp, owner), f.sync("."))
	}
	if err != nil {
		return fmt.Errorf("claim blob folder: %w", classify(err))
	}
	return nil
}

// Claim records that the files belong to a store. It fails if they belong to another store. If
// the bucket does not respond, nothing is written or deleted until the claim succeeds.
func (b *Bucket) Claim(ctx context.Context, store string) error {
	b.owner.Store(&store)
	return ignore(b.ready(ctx), feedmill.ErrUnavailable)
}

// errOwned is the error of a bucket that belongs to another store.
var errOwned = errors.New("the bucket has the files of another store")

// errCopying is the error of a location to which files are being moved.
var errCopying = errors.New("'feedmill files copy' has not finished copying files here; run it again until it succeeds")

// ready holds that the bucket belongs to the store of [Bucket.Claim].
func (b *Bucket) ready(ctx context.Context) error {
	owner := b.owner.Load()
	if owner == nil || b.claimed.Load() {
		return nil
	}
	held, err := b.Owner(ctx)
	if err != nil {
		return err
	}
	if held == "" && LocationOf(*owner) != "" {
		// The files were moved to a location that has a claim.
		return fmt.Errorf("%s: %w: it has no object %s, and the files of this store were moved to another location", b, errOwned, b.key(ownerName))
	}
	if held == "" || restoredFor(held, *owner) {
		if err := b.SetOwner(ctx, *owner); err != nil {
			return err
		}
		// Of two stores that claim at the same time, one reads the claim of the other.
		if held, err = b.Owner(ctx); err != nil {
			return err
		}
		if held == "" {
			return unavailable(fmt.Errorf("%s does not return the object that was just written", b.key(ownerName)))
		}
	}
	if _, ok := ParseCopyClaim(held); ok {
		return fmt.Errorf("%s: %w", b, errCopying)
	}
	if held != *owner {
		return fmt.Errorf("%s: %w (%s), and this store is %s; use another prefix. If that store no longer exists, delete the object %s", b, errOwned, held, *owner, b.key(ownerName))
	}
	b.claimed.Store(true)
	return nil
}

// Owner is the store that the files belong to, empty if there is none.
func (b *Bucket) Owner(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	object, err := b.client.GetObject(ctx, b.at.Bucket, b.key(ownerName), minio.GetObjectOptions{})
	if err != nil {
		return "", b.note(ctx, err)
	}
	defer object.Close()
	held, err := io.ReadAll(io.LimitReader(object, 4096))
	if err := ignore(b.note(ctx, err), feedmill.ErrNotFound); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(held)), nil
}

// SetOwner records the store that the files belong to, in place of another.
func (b *Bucket) SetOwner(ctx context.Context, store string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	text := store + "\n"
	return b.upload(ctx, ownerName, strings.NewReader(text), int64(len(text)), "")
}

// copying and retired follow the claim of a location that 'feedmill files copy' writes to, and of
// one that it has moved the files away from. location begins the id of a location.
const (
	copying  = " copying"
	retired  = " retired"
	location = "loc_"
)

// NewLocation returns the id of a location that files are moved to. It ends the claim of the store.
func NewLocation() string { return location + strings.ToLower(rand.Text()) }

// LocationOf is the id of a location in its claim, empty if the files were never moved.
func LocationOf(claim string) string {
	id := claim[strings.LastIndexByte(claim, ' ')+1:]
	if !strings.HasPrefix(id, location) {
		return ""
	}
	return id
}

// CopyClaim is the claim of a location to which files are copied. No server accepts it.
func CopyClaim(claim string) string { return claim + copying }

// ParseCopyClaim returns the claim that a location gets when its files are complete.
func ParseCopyClaim(held string) (claim string, ok bool) { return strings.CutSuffix(held, copying) }

// RetiredClaim is the claim of a location from which the files were moved away.
func RetiredClaim(claim string) string {
	claim, _ = strings.CutSuffix(claim, retired)
	return claim + retired
}

// Retired reports whether a claim is that of a location from which the files were moved away.
func Retired(held string) bool { return strings.HasSuffix(held, retired) }

// FirstClaim is the claim of a location as it was before the files of its store were first moved.
func FirstClaim(held string) string {
	claim, _ := strings.CutSuffix(held, retired)
	if id := LocationOf(claim); id != "" {
		claim = strings.TrimSuffix(claim, " "+id)
	}
	return claim
}

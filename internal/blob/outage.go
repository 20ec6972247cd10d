package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/feedmill/feedmill"
)

// missing and full are the codes of S3's errors for an object that does not exist, and for a
// bucket that takes no more bytes.
var (
	missing = []string{"NoSuchKey", "NotFound"}
	full    = []string{"QuotaExceeded", "InsufficientCapacity", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}
)

// note adds the kind to an error of the bucket, and records whether the bucket responds.
func (b *Bucket) note(ctx context.Context, err error) error {
	if err == nil {
		b.outage.Store(nil)
		return nil
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return err // the caller stopped waiting
	}
	response := minio.ToErrorResponse(err)
	switch {
	case slices.Contains(missing, response.Code):
		return fmt.Errorf("%w: %w", feedmill.ErrNotFound, err)
	case slices.Contains(full, response.Code) || response.StatusCode == http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %w", feedmill.ErrNoRoom, err)
	}
	b.outage.Store(&err)
	return fmt.Errorf("%w (%w)", &feedmill.Error{
		Kind: feedmill.ErrUnavailable, Type: "storage-unavailable", Title: "The file storage is not available",
		Detail: "The bucket with the files of feeds does not respond. Nothing was changed. Retry after the time in the Retry-After header.",
	}, err)
}

// Check makes a request to the bucket. Its error is for the operator: refused reports that the
// bucket rejects the configuration, so that waiting does not help.
func (b *Bucket) Check(ctx context.Context) (refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	exists, err := b.client.BucketExists(ctx, b.at.Bucket)
	if err == nil && exists {
		b.outage.Store(nil)
		return false, nil
	}
	status := minio.ToErrorResponse(err).StatusCode
	switch code := minio.ToErrorResponse(err).Code; {
	case err == nil, status == http.StatusNotFound:
		return true, fmt.Errorf("%s: the bucket does not exist (404); create it, or correct FEEDMILL_BLOB_URL", b)
	case code == "AuthorizationHeaderMalformed", status == http.StatusMovedPermanently, status == http.StatusBadRequest:
		return true, fmt.Errorf("%s: the bucket is in another region than %q; correct region in FEEDMILL_BLOB_URL: %w", b, b.at.Region, err)
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return true, fmt.Errorf("%s: access denied (%d); check FEEDMILL_BLOB_ACCESS_KEY, FEEDMILL_BLOB_SECRET_KEY and the permissions of the key: %w", b, status, err)
	}
	outage := err
	b.outage.Store(&outage)
	return false, fmt.Errorf("%s: %w", b, err)
}

// Claim records that the files belong to a store. It fails if they belong to another store. If
// the bucket does not respond, nothing is written or deleted until the claim succeeds.
func (b *Bucket) Claim(ctx context.Context, store string) error {
	b.owner.Store(&store)
	return ignore(b.ready(ctx), feedmill.ErrUnavailable)
}

// errOwned is the error of a bucket that belongs to another store.
var errOwned = errors.New("the bucket has the files of another store")

// ready holds that the bucket belongs to the store of [Bucket.Claim].
func (b *Bucket) ready(ctx context.Context) error {
	owner := b.owner.Load()
	if owner == nil || b.claimed.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	object, err := b.client.GetObject(ctx, b.at.Bucket, b.key(ownerName), minio.GetObjectOptions{})
	if err != nil {
		return b.note(ctx, err)
	}
	defer object.Close()
	held, err := io.ReadAll(io.LimitReader(object, 4096))
	if err = b.note(ctx, err); errors.Is(err, feedmill.ErrNotFound) {
		text := []byte(*owner + "\n")
		if err = b.upload(ctx, ownerName, bytes.NewReader(text), int64(len(text)), ""); err == nil {
			// Of two stores that claim at the same time, one reads the claim of the other.
			return b.ready(ctx)
		}
	}
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(string(held)); id != *owner {
		return fmt.Errorf("%s: %w (%s), and this store is %s; use another prefix. If that store no longer exists, delete the object %s", b, errOwned, id, *owner, b.key(ownerName))
	}
	b.claimed.Store(true)
	return nil
}

package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/feedmill/feedmill"
)

// missing and full are the codes of S3's errors for an object that does not exist, and for a
// bucket that takes no more bytes.
var (
	missing = []string{"NoSuchKey", "NotFound"}
	full    = []string{"QuotaExceeded", "InsufficientCapacity", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}
)

// outage is a time in which the requests to a bucket fail.
type outage struct {
	since time.Time
	err   error
}

// Outage is why the last request to the bucket failed, nil if it did not.
func (b *Bucket) Outage() error {
	if o := b.outage.Load(); o != nil {
		return o.err
	}
	return nil
}

// OutageSince is when the first request failed after which none succeeded, zero if there is none.
func (b *Bucket) OutageSince() time.Time {
	if o := b.outage.Load(); o != nil {
		return o.since
	}
	return time.Time{}
}

// fail records an error of the bucket.
func (b *Bucket) fail(err error) {
	next := &outage{time.Now(), err}
	if last := b.outage.Load(); last != nil {
		next.since = last.since
	}
	b.outage.Store(next)
}

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
	b.fail(err)
	return unavailable(err)
}

// unavailable is the error of a bucket that does not respond, or that rejects a request.
func unavailable(err error) error {
	problem := "does not respond"
	if Denied(err) {
		problem = "denies access"
	}
	return fmt.Errorf("%w (%w)", &feedmill.Error{
		Kind: feedmill.ErrUnavailable, Type: "storage-unavailable", Title: "The file storage is not available",
		Detail: "The bucket with the files of feeds " + problem + ". Nothing was changed. Retry after the time in the Retry-After header.",
	}, err)
}

// Denied reports whether an error is that of a bucket that rejects the credentials, so that
// waiting does not help.
func Denied(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return status == http.StatusForbidden || status == http.StatusUnauthorized
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
	b.fail(err)
	return false, fmt.Errorf("%s: %w", b, err)
}

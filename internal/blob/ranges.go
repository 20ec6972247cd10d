package blob

import (
	"context"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/feedmill/feedmill"
)

// rangeReader reads an object with one request for each read.
type rangeReader func(p []byte, offset int64) (int, error)

// ReadAt reads a range that must be in the object.
func (r rangeReader) ReadAt(p []byte, offset int64) (int, error) { return r(p, offset) }

// readRange reads a range of an object.
func (b *Bucket) readRange(ctx context.Context, name string, p []byte, offset int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var o minio.GetObjectOptions
	if err := o.SetRange(offset, offset+int64(len(p))-1); err != nil {
		return 0, err
	}
	object, _, header, err := minio.Core{Client: b.client}.GetObject(ctx, b.at.Bucket, b.key(name), o)
	if err != nil {
		return 0, b.note(ctx, err)
	}
	defer object.Close()
	if header.Get("Content-Range") == "" {
		return 0, fmt.Errorf("%w: the bucket ignores the range of a request", feedmill.ErrUnavailable)
	}
	n, err := io.ReadFull(object, p)
	return n, b.note(ctx, err)
}

package lake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake/parquet"
)

// Blobs is where versions are kept.
type Blobs interface {
	// Put writes a blob, whole or not at all.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Path is where the file of a blob is.
	Path(ctx context.Context, name string) (string, error)
}

// Version is what is known of a table that was written. It never changes.
type Version struct {
	// Blob is the name of its file.
	Blob    string
	Columns []feedmill.Column
	Rows    int64
	Bytes   int64
	// ContentHash is the same for versions with the same columns and rows, in
	// the same order.
	ContentHash string
}

// Write writes a version of a table. If the table ends with an error, nothing is
// kept.
func Write(ctx context.Context, blobs Blobs, name string, table feedmill.TypedTable) (Version, error) {
	v := Version{Blob: name, Columns: table.Columns}
	err := blobs.Put(ctx, name, func(w io.Writer) error {
		counted := counter{w: w, hash: sha256.New()}
		writer, err := parquet.NewWriter(&counted, table.Columns, parquet.Options{})
		if err != nil {
			return err
		}
		defer writer.Abort()
		for run, err := range table.Runs {
			if err != nil {
				return err
			}
			if err := writer.Append(ctx, run); err != nil {
				return err
			}
			if len(run) > 0 {
				v.Rows += int64(run[0].Len)
			}
		}
		if err := writer.Close(ctx); err != nil {
			return err
		}
		v.Bytes = counted.n
		v.ContentHash = "sha256:" + hex.EncodeToString(counted.hash.Sum(nil))
		return nil
	})
	if err != nil {
		return Version{}, fmt.Errorf("write version: %w", err)
	}
	return v, nil
}

// counter counts and hashes what is written through it.
type counter struct {
	w    io.Writer
	n    int64
	hash hash.Hash
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.hash.Write(p[:n])
	return n, err
}

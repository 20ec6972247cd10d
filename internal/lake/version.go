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

// Store keeps the files of versions that are written.
type Store interface {
	// Put writes a blob, whole or not at all.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
}

// Blobs is where versions are kept.
type Blobs interface {
	Store
	// Lease finds the file of a blob and keeps it there until it is released.
	Lease(ctx context.Context, name string) (feedmill.FileLease, error)
	// LeaseHead leases an extract of a Parquet file of some size with at least so many of its
	// first rows, and the values of some columns. ok is false if the file is on the local disk, or
	// if most of it would be read: then it is leased as a whole.
	LeaseHead(ctx context.Context, name string, size int64, columns []int, rows int64) (lease feedmill.FileLease, ok bool, err error)
}

// Version is what is known of a table that was written. Its rows never change.
type Version struct {
	// Name is what cursors know the version by.
	Name string
	// Files have the rows, one behind the other.
	Files   []feedmill.VersionFile
	Columns []feedmill.Column
	Rows    int64
	Bytes   int64
	// ContentHash is the same for versions with the same columns and rows, in
	// the same order.
	ContentHash string
	// source is what SQL selects the rows from where that is not the files as
	// they are.
	source string
	// parts are the same as the source, some rows each, where rows are large.
	parts []sourcePart
}

// Write writes a table as a version of one file. If the table ends with an error,
// nothing is kept.
func Write(ctx context.Context, blobs Store, name string, table feedmill.TypedTable) (Version, error) {
	file, err := writeFile(ctx, blobs, name, table)
	if err != nil {
		return Version{}, fmt.Errorf("write version: %w", err)
	}
	return versionOf(name, table.Columns, []feedmill.VersionFile{file}), nil
}

// versionOf is a version with some columns whose rows lie in files.
func versionOf(name string, columns []feedmill.Column, files []feedmill.VersionFile) Version {
	v := Version{Name: name, Columns: columns, Files: files, ContentHash: contentHash(columns, files)}
	for _, file := range files {
		v.Rows += file.Rows
		v.Bytes += file.Bytes
	}
	return v
}

func writeFile(ctx context.Context, blobs Store, name string, table feedmill.TypedTable) (feedmill.VersionFile, error) {
	file := feedmill.VersionFile{Name: name}
	sum := newSummer(table.Columns)
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
			sum.add(run)
		}
		if err := writer.Close(ctx); err != nil {
			return err
		}
		file.Rows, file.Bytes, file.Sum, file.Cuts = sum.rows, counted.n, sum.String(), writer.Cuts()
		file.LargestRow = writer.LargestRow()
		footer := writer.FooterSum()
		file.Sums = feedmill.FileSums{SHA256: hex.EncodeToString(counted.hash.Sum(nil)), Footer: hex.EncodeToString(footer[:])}
		return nil
	})
	return file, err
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

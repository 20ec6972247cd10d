package blob

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path"
	"sync/atomic"

	"github.com/feedmill/feedmill/internal/pagecache"
)

// Draft is a blob that is being written. What was written can be read at once,
// by several goroutines, and after it was kept too. Like [Blob] it is an alias.
type Draft = interface {
	// Write appends to the draft. One goroutine writes at a time.
	io.Writer
	io.ReaderAt
	// Size is how many bytes were written.
	Size() int64
	// Keep makes a blob of all that was written, which is on disk under its
	// name when Keep returns. If the context ends or the name is taken, nothing
	// is kept.
	Keep(context.Context) error
	// Close ends the draft. Where it was not kept, nothing is left of it.
	Close()
}

type draft struct {
	folder     *Folder
	name, temp string
	file       *os.File
	size       atomic.Int64
	writtenOut int64 // how much of a large draft is on disk, or on its way
}

// stride is how much of a large draft is written to disk at a time.
const stride = 8 << 20

// Begin begins a blob. It must be closed.
func (f *Folder) Begin(name string) (Draft, error) {
	if err := check(name); err != nil {
		return nil, fmt.Errorf("begin blob: %w", err)
	}
	return f.begin(name)
}

func (f *Folder) begin(name string) (*draft, error) {
	temp := path.Join(temporary, rand.Text())
	file, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin blob: %w", classify(err))
	}
	return &draft{folder: f, name: name, temp: temp, file: file}, nil
}

func (d *draft) Write(p []byte) (int, error) {
	if d.folder.Take != nil {
		if err := d.folder.Take(int64(len(p))); err != nil {
			return 0, err
		}
	}
	n, err := d.file.Write(p)
	d.size.Add(int64(n))
	for d.large() && d.Size()-d.writtenOut >= stride {
		pagecache.WriteOut(d.file, d.writtenOut, stride)
		// The strides before are probably on disk by now.
		pagecache.Drop(d.file, max(0, d.writtenOut-4*stride), 4*stride)
		d.writtenOut += stride
	}
	return n, classify(err)
}

func (d *draft) ReadAt(p []byte, offset int64) (int, error) {
	n, err := d.file.ReadAt(p, offset)
	if n >= droppedRead && d.large() {
		pagecache.Drop(d.file, offset, int64(n))
	}
	return n, err
}

// droppedRead is how long a read must be to drop what was read from memory. Short reads are
// often followed by others of the same page.
const droppedRead = 64 << 10

// large reports whether the draft would displace the files of other requests from memory.
func (d *draft) large() bool { return d.folder.Large > 0 && d.Size() > d.folder.Large }

func (d *draft) Size() int64 { return d.size.Load() }

func (d *draft) Keep(ctx context.Context) error {
	err := context.Cause(ctx)
	if err == nil {
		err = classify(d.file.Sync())
	}
	if err == nil {
		err = classify(d.folder.publish(d.temp, d.name))
	}
	if err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	return nil
}

func (d *draft) Close() {
	// What cannot be removed now is swept later, and what was kept is on disk.
	_ = d.folder.root.Remove(d.temp)
	_ = d.file.Close()
}

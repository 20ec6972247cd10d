package blob

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// cache keeps local copies of files in a folder, up to a number of bytes. Files that are in
// use are never removed, so it can exceed the limit by what they take.
type cache struct {
	folder  *Folder
	max     int64
	metrics *metrics

	mu      sync.Mutex
	used    int64
	entries map[string]*entry
	// idle are the entries that nobody uses, the least recently used first.
	idle *list.List
}

// entry is a file of the cache.
type entry struct {
	name string
	size int64
	// refs counts its users, and the download while it runs.
	refs int
	// at is its element of idle, nil while it is in use.
	at *list.Element
	// done is closed when the download has ended, with err.
	done chan struct{}
	err  error
	// gone reports that the entry was dropped: its file is removed with the last user.
	gone bool
}

// openCache opens the folder of a cache. Parquet files of an earlier process stay, because they
// are verified before they are read again. Other files are removed.
func openCache(ctx context.Context, dir string, max int64, to prometheus.Registerer) (*cache, error) {
	folder, err := Open(dir)
	if err != nil {
		return nil, err
	}
	c := &cache{folder: folder, max: max, entries: make(map[string]*entry), idle: list.New()}
	c.metrics = newMetrics(c, to)
	for name, err := range folder.List(ctx) {
		if err != nil {
			return nil, errors.Join(err, folder.Close())
		}
		info, err := folder.root.Lstat(name)
		if err != nil || !strings.HasSuffix(name, ".parquet") {
			_ = folder.root.Remove(name) // if that fails, its next download replaces it
			continue
		}
		c.add(&entry{name: name, size: info.Size(), done: closed})
	}
	return c, nil
}

// closed is the done of entries that need no download.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// add adds a file that nobody uses yet.
func (c *cache) add(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.name] != nil {
		return
	}
	c.entries[e.name] = e
	c.used += e.size
	e.at = c.idle.PushBack(e)
	c.evict()
}

// insert moves a temporary file into the cache under its name.
func (c *cache) insert(temp, name string, size int64) error {
	if err := c.folder.makeFolder(path.Dir(name)); err != nil {
		return classify(err)
	}
	if err := c.folder.root.Rename(temp, name); err != nil {
		return classify(err)
	}
	c.add(&entry{name: name, size: size, done: closed})
	return nil
}

// acquire returns the file of a name, which stays until it is released. download writes a file
// that is not there; concurrent callers share one download.
func (c *cache) acquire(ctx context.Context, name string, download func(context.Context, io.Writer) error) (*entry, error) {
	c.mu.Lock()
	e := c.entries[name]
	if e != nil {
		c.metrics.hits.Inc()
	} else {
		c.metrics.misses.Inc()
		e = &entry{name: name, refs: 1, done: make(chan struct{})}
		c.entries[name] = e
		// The download goes on for the others if this caller stops waiting.
		go c.fill(context.WithoutCancel(ctx), e, download)
	}
	c.use(e)
	c.mu.Unlock()
	select {
	case <-e.done:
	case <-ctx.Done():
		c.release(e)
		return nil, context.Cause(ctx)
	}
	if e.err != nil {
		c.release(e)
		return nil, e.err
	}
	return e, nil
}

// has reports whether a file is in the cache, or is being downloaded.
func (c *cache) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[name] != nil
}

// use counts a user of an entry. The cache is locked.
func (c *cache) use(e *entry) {
	e.refs++
	if e.at != nil {
		c.idle.Remove(e.at)
		e.at = nil
	}
}

// fill downloads the file of an entry.
func (c *cache) fill(ctx context.Context, e *entry, download func(context.Context, io.Writer) error) {
	size, err := c.store(ctx, e.name, download)
	c.mu.Lock()
	if err != nil {
		e.err = err
		delete(c.entries, e.name)
	} else {
		e.size = size
		c.used += size
	}
	close(e.done)
	c.mu.Unlock()
	c.release(e)
}

// store downloads a file to its place.
func (c *cache) store(ctx context.Context, name string, download func(context.Context, io.Writer) error) (int64, error) {
	d, err := c.folder.begin(name)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	if err := download(ctx, d); err != nil {
		return 0, err
	}
	if err := c.folder.makeFolder(path.Dir(name)); err != nil {
		return 0, classify(err)
	}
	return d.Size(), classify(c.folder.root.Rename(d.temp, name))
}

// release ends the use of an entry.
func (c *cache) release(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.refs--; e.refs > 0 || e.err != nil { // without a file, if that failed
		return
	}
	if e.gone {
		c.remove(e)
		return
	}
	e.at = c.idle.PushBack(e)
	c.evict()
}

// evict removes files that nobody uses while there are too many bytes. The cache is locked.
func (c *cache) evict() {
	for c.used > c.max && c.idle.Len() > 0 {
		e := c.idle.Remove(c.idle.Front()).(*entry)
		delete(c.entries, e.name)
		c.metrics.evicted.Add(float64(e.size))
		c.remove(e)
	}
}

// bytes is how much the files of the cache take.
func (c *cache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// remove removes the file of an entry that is not in the table any more. The cache is locked.
func (c *cache) remove(e *entry) {
	c.used -= e.size
	if c.entries[e.name] == nil { // else a later download has replaced it
		_ = c.folder.root.Remove(e.name)
	}
}

// drop forgets a file. Those that use it can finish.
func (c *cache) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if e == nil {
		return
	}
	select {
	case <-e.done:
	default:
		return // it is being downloaded, and so new
	}
	delete(c.entries, name)
	if e.at == nil {
		e.gone = true
		return
	}
	c.idle.Remove(e.at)
	c.remove(e)
}

// file opens the file of an entry. A file that was taken away is not in the cache any more.
func (c *cache) file(e *entry) (*os.File, error) {
	opened, err := c.folder.root.Open(e.name)
	if errors.Is(err, fs.ErrNotExist) {
		c.drop(e.name)
		return nil, fmt.Errorf("%w: %w", errTakenAway, err)
	}
	return opened, classify(err)
}

var errTakenAway = errors.New("a file of the cache was removed")

// path is where the file of an entry is.
func (c *cache) path(e *entry) string {
	return filepath.Join(c.folder.Dir(), filepath.FromSlash(e.name))
}

// cachedFile is an open file of the cache.
type cachedFile struct {
	*os.File
	size    int64
	release func()
}

// Size is how many bytes the file has.
func (f *cachedFile) Size() int64 { return f.size }

// Close closes the file and ends its use.
func (f *cachedFile) Close() error {
	defer f.release()
	return f.File.Close()
}

package feed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/parquet"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/share"
)

const (
	// keepExports is how many files with results of queries a version has at most.
	keepExports = 4
	// exportTime is how long it may take to write one.
	exportTime = 15 * time.Minute
)

// ParquetFile opens the result of a query as a Parquet file, of which parts can be read: that of the
// version where it is the same, else one that was written for that and is kept
// with the version. It returns nil where there is none, and writes one first if it may. tag
// stands for the query and the version.
func (f *Feeds) ParquetFile(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion, q feedmill.Query, tag string, write bool) (feedmill.FeedFile, error) {
	table := lakeVersion(v)
	if stored, err := f.storedFile(ctx, table, q); err != nil || stored != nil {
		return stored, err
	}
	of := feedmill.VersionRef{Workspace: workspace, Feed: v.Feed, Number: v.Number}
	prefix := fmt.Sprintf("%s/%d-%s-", v.Feed, v.Number, tag)
	file, _, err := f.openExport(ctx, of, prefix)
	if err == nil {
		return file, nil
	}
	if !errors.Is(err, feedmill.ErrNotFound) || !write {
		return nil, orFound(err)
	}
	if err := f.refuseNumericText(ctx, v, q); err != nil {
		return nil, err
	}
	// There is one result with all rows for each choice of columns, and any number of others.
	whole := len(q.Where) == 0 && len(q.Sort) == 0
	err = f.exports.do(ctx, prefix, whole, func(ctx context.Context) error {
		return f.export(ctx, prefix, of, table, q)
	})
	if errors.Is(err, errNoExport) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if file, _, err = f.openExport(ctx, of, prefix); err != nil {
		return nil, orFound(err)
	}
	return file, nil
}

// openExport opens the result of a query, whose name begins with a prefix. One that is
// damaged is returned as its name and [feedmill.ErrNotFound]: it can be replaced.
func (f *Feeds) openExport(ctx context.Context, of feedmill.VersionRef, prefix string) (file feedmill.FeedFile, name string, err error) {
	if name, err = f.Store.Export(ctx, of, prefix); err != nil {
		return nil, "", err
	}
	if _, err = f.Blobs.Verify(ctx, name); errors.Is(err, feedmill.ErrDamaged) {
		err = feedmill.ErrNotFound
	}
	if err == nil {
		file, err = f.Blobs.Open(ctx, name)
	}
	return file, name, err
}

// orFound is an error but for that of what is not there.
func orFound(err error) error {
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil
	}
	return err
}

// storedFile opens the file of a version where that is the result of a query, else it
// returns nil.
func (m *Mill) storedFile(ctx context.Context, table *lake.Version, q feedmill.Query) (feedmill.FeedFile, error) {
	name := table.Stored()
	if name == "" {
		return nil, nil
	}
	if _, err := m.Blobs.Verify(ctx, name); err != nil {
		return nil, lake.Elsewhere(err)
	}
	file, err := m.Blobs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	if is, err := table.IsResult(q, file, file.Size()); err != nil || !is {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// errNoExport says that there is no room for a file.
var errNoExport = errors.New("not enough disk space for the result of a query")

// export writes the result of a query to a file and keeps it with the version. Whatever
// ends this in between leaves a file that no version has, which is swept.
func (f *Feeds) export(ctx context.Context, prefix string, of feedmill.VersionRef, table *lake.Version, q feedmill.Query) error {
	file, replaced, err := f.openExport(ctx, of, prefix)
	if err == nil {
		return file.Close() // another request wrote it
	}
	// Names are never reused, not even for the same result.
	name := prefix + strings.ToLower(rand.Text()[:10]) + feedmill.ExportSuffix
	if f.Room.Disk.Check() != nil {
		return errNoExport
	}
	if _, _, err := f.checkStored(ctx, of.Workspace, errNoExport); err != nil {
		return err
	}
	err = f.Blobs.Put(ctx, name, func(w io.Writer) error {
		_, err := f.Reader.Read(ctx, table, q, wire.FormatParquet, nil, w)
		return err
	})
	if feedmill.IsNoRoom(err) {
		return errNoExport
	}
	if err != nil {
		return err
	}
	if file, err = f.Blobs.Open(ctx, name); err != nil {
		return err
	}
	made := feedmill.VersionFile{Name: name, Bytes: file.Size()}
	made.Sums, err = parquet.Sum(file, file.Size(), file)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	dropped, err := f.Store.KeepExport(ctx, of, made, replaced, keepExports)
	if err != nil {
		f.dropJoined(name, err)
		return err
	}
	for _, name := range dropped {
		f.remove(name)
	}
	return nil
}

// exports are files, and profiles, that are being made, each once for all who ask for it.
type exports struct {
	mu    sync.Mutex
	under map[string]*exporting
	// alone is what goes on although nobody waits for it, by workspace.
	alone   map[string]*exporting
	running sync.WaitGroup
}

type exporting struct {
	done    chan struct{}
	err     error
	waiting int // how many wait for it
	stop    context.CancelFunc
}

// do has something made, or waits for whoever does it already. What goes to its end does so
// also when nobody waits any more, because some do not wait long enough and ask again,
// but only one such of a workspace; anything else stops then.
func (e *exports) do(ctx context.Context, name string, toEnd bool, write func(context.Context) error) error {
	e.mu.Lock()
	one, ok := e.under[name]
	if !ok {
		one = e.begin(ctx, name, write)
	}
	one.waiting++
	e.mu.Unlock()
	select {
	case <-one.done:
		return one.err
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if one.waiting--; one.waiting == 0 && !(toEnd && e.leave(share.Holder(ctx), one)) {
		e.forget(name, one) // so that nobody waits for what is stopped
		one.stop()
	}
	return context.Cause(ctx)
}

func (e *exports) begin(ctx context.Context, name string, write func(context.Context) error) *exporting {
	one := &exporting{done: make(chan struct{})}
	if e.under == nil {
		e.under = make(map[string]*exporting)
	}
	e.under[name] = one
	ctx, one.stop = context.WithTimeout(context.WithoutCancel(ctx), exportTime)
	e.running.Go(func() {
		defer one.stop()
		one.err = write(ctx)
		e.mu.Lock()
		e.forget(name, one)
		if holder := share.Holder(ctx); e.alone[holder] == one {
			delete(e.alone, holder)
		}
		e.mu.Unlock()
		close(one.done)
	})
	return one
}

// leave lets something go on although nobody waits for it, and reports false where
// something else of the workspace does.
func (e *exports) leave(holder string, one *exporting) bool {
	if left := e.alone[holder]; left != nil && left != one && left.waiting == 0 {
		select {
		case <-left.done:
		default:
			return false
		}
	}
	if e.alone == nil {
		e.alone = make(map[string]*exporting)
	}
	e.alone[holder] = one
	return true
}

func (e *exports) forget(name string, one *exporting) {
	if e.under[name] == one {
		delete(e.under, name)
	}
}

// StopExports cancels the files that are being written, and waits for their end.
func (f *Feeds) StopExports() {
	f.exports.mu.Lock()
	for _, one := range f.exports.under {
		one.stop()
	}
	f.exports.mu.Unlock()
	f.exports.running.Wait()
}

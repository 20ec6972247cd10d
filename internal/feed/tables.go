package feed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/iceberg"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/share"
)

// Tables knows feeds as tables that other programs read.
type Tables interface {
	DueTables(ctx context.Context, limit int) ([]feedmill.Table, error)
	ClaimTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.TableClaim, error)
	CommitTable(ctx context.Context, c feedmill.TableClaim, files feedmill.TableFiles) (gone []string, err error)
	FeedTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Table, error)
	FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error)
	ForgetTables(ctx context.Context) (forgot bool, err error)
}

// WriteTables writes the metadata of a few tables whose feeds have changed. A table that
// cannot be written is tried again when its claim has expired.
func (f *Feeds) WriteTables(ctx context.Context) (more bool, err error) {
	const step = 20
	due, err := f.Store.DueTables(ctx, step)
	if err != nil {
		return false, err
	}
	for _, t := range due {
		if _, ok := f.elsewhere.Load(t.Feed); ok {
			continue // the replica that has its files writes it
		}
		failure := f.writeTable(share.InBackground(ctx, string(t.Workspace)), t.Workspace, t.Feed)
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("table of feed %s: %w", t.Feed, failure))
		}
	}
	return len(due) == step && err == nil, err
}

// Table finds the table of a feed, with its metadata, after all changes of the feed so far.
// It is [feedmill.ErrNotFound] if there is none.
func (f *Feeds) Table(ctx context.Context, workspace, feed feedmill.ID) (t feedmill.Table, metadata []byte, err error) {
	if f.TableRoot == "" {
		return feedmill.Table{}, nil, feedmill.ErrNotFound
	}
	if err := f.writeTable(ctx, workspace, feed); err != nil {
		f.Log.Warn("the metadata of a table could not be written; readers get the metadata before it", "feed", feed, "error", err)
	}
	if t, err = f.Store.FeedTable(ctx, workspace, feed); err != nil {
		return feedmill.Table{}, nil, err
	}
	metadata, err = f.readWhole(ctx, t.Metadata)
	return t, metadata, lake.Elsewhere(err)
}

// StoredTable finds the table of a feed as it was last written. It is [feedmill.ErrNotFound] if
// there is none.
func (f *Feeds) StoredTable(ctx context.Context, workspace, feed feedmill.ID) (feedmill.Table, error) {
	if f.TableRoot == "" {
		return feedmill.Table{}, feedmill.ErrNotFound
	}
	return f.Store.FeedTable(ctx, workspace, feed)
}

// MetadataLocation is where readers find a metadata file.
func (f *Feeds) MetadataLocation(name string) string { return f.TableRoot + "/" + name }

// writeTable writes the metadata of a table if its feed has changed and nobody else writes it.
func (f *Feeds) writeTable(ctx context.Context, workspace, feed feedmill.ID) error {
	claim, err := f.Store.ClaimTable(ctx, workspace, feed)
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	b := &tableBuild{feeds: f, claim: claim, folder: string(feed) + "/"}
	if err = b.load(ctx); err == nil {
		err = b.update(ctx)
	}
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && refusal.Type == "files-elsewhere" {
		f.elsewhere.Store(feed, true)
		claim.Changes = 0 // the table stays due
		_, err := f.Store.CommitTable(ctx, claim, feedmill.TableFiles{})
		return err
	}
	if err == nil {
		err = b.commit(ctx)
	}
	if err == nil && b.rewrite != nil {
		f.rewriteFiles(ctx, workspace, *b.rewrite)
	}
	return err
}

// tableBuild is the next state of a table.
type tableBuild struct {
	feeds  *Feeds
	claim  feedmill.TableClaim
	folder string // the prefix of the names of all files of the feed
	table  *iceberg.Table
	// objects are the files to write, and changed says that there is something new.
	objects []iceberg.Object
	changed bool
	// rewrite is the current version if readers of Iceberg cannot read its files.
	rewrite *feedmill.FeedVersion
}

// load reads the table as it was committed. One that cannot be read, or was written for
// another location, begins anew.
func (b *tableBuild) load(ctx context.Context) error {
	location := b.feeds.TableRoot + "/" + strings.TrimSuffix(b.folder, "/")
	b.changed = true
	if b.claim.Metadata != "" {
		read := func(path string) ([]byte, error) { return b.feeds.readWhole(ctx, b.folder+path) }
		t, err := iceberg.Load(location, strings.TrimPrefix(b.claim.Metadata, b.folder), read)
		if errors.Is(err, feedmill.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if err == nil {
			b.table, b.changed = t, false
		} else {
			b.feeds.Log.Warn("the metadata of a table could not be read; it is written anew", "feed", b.claim.Feed, "error", err)
		}
	}
	if b.table == nil {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", b.claim.Feed, b.claim.Sequence))
		sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8
		id := hex.EncodeToString(sum[:16])
		b.table = iceberg.New(fmt.Sprintf("%s-%s-%s-%s-%s", id[:8], id[8:12], id[12:16], id[16:20], id[20:]), location)
	}
	b.table.Salt = fmt.Sprint(b.claim.Feed, b.claim.Sequence)
	b.table.Number(int(b.claim.Sequence))
	return nil
}

// update makes the snapshots those of the versions that are kept.
func (b *tableBuild) update(ctx context.Context) error {
	versions, err := b.feeds.Store.FeedVersions(ctx, b.claim.Workspace, b.claim.Feed, now(), 0, feedmill.MaxKeepVersions)
	if err != nil {
		return err
	}
	kept := make(map[int64]*feedmill.FeedVersion, len(versions))
	for i := len(versions) - 1; i >= 0; i-- { // oldest first
		v := &versions[i]
		kept[v.Number] = v
		if err := b.register(ctx, v, i == 0); err != nil {
			return err
		}
	}
	newest := make(map[int64]*iceberg.Snapshot)
	for _, s := range b.table.Snapshots {
		newest[s.Version] = s
	}
	before := len(b.table.Snapshots)
	b.table.Expire(func(s *iceberg.Snapshot) bool { return kept[s.Version] != nil && newest[s.Version] == s })
	b.changed = b.changed || len(b.table.Snapshots) != before
	current := b.table.Current()
	if current == nil || kept[current.Version] == nil {
		return nil
	}
	schema := b.table.Schema()
	err = b.table.Relabel(feedmill.ShownColumns(kept[current.Version].Columns))
	b.changed = b.changed || b.table.Schema() != schema
	return err
}

// register adds a version as a snapshot, if it is newer than the current one or has the same
// rows in other files. A version with files that readers cannot read is left out.
func (b *tableBuild) register(ctx context.Context, v *feedmill.FeedVersion, last bool) error {
	current := b.table.Current()
	add := iceberg.Version{Number: v.Number, At: v.CreatedAt, Columns: feedmill.ShownColumns(v.Columns)}
	known := make(map[string]bool)
	if current != nil {
		for _, path := range current.Files() {
			known[path] = true
		}
		same := len(known) == len(v.Files)
		for i := range v.Files {
			same = same && known[b.location(v.Files[i].Name)]
		}
		if v.Number < current.Version || v.Number == current.Version && same {
			return nil
		}
		if add.Joined = v.Number == current.Version; add.Joined {
			add.At = b.claim.At
		}
	}
	if add.At.After(b.claim.At) {
		add.At = b.claim.At // the clock of the database, not that of a replica
	}
	err := b.addFiles(ctx, &add, v, known)
	var objects []iceberg.Object
	if err == nil {
		objects, err = b.table.Add(add)
	}
	if _, ok := errors.AsType[*iceberg.NotConformingError](err); ok {
		if last {
			b.rewrite = v
		}
		return nil
	}
	b.objects, b.changed = append(b.objects, objects...), true
	return err
}

// addFiles adds the files of a version, with the statistics of those that the current snapshot
// does not have.
func (b *tableBuild) addFiles(ctx context.Context, add *iceberg.Version, v *feedmill.FeedVersion, known map[string]bool) error {
	for i := range v.Files {
		file := &v.Files[i]
		columns := file.Columns
		if columns == nil {
			columns = v.Columns
		}
		one := iceberg.DataFile{Path: b.location(file.Name), Rows: file.Rows, Bytes: file.Bytes, Columns: columns}
		if !known[one.Path] {
			blob, err := b.feeds.Blobs.Open(ctx, file.Name)
			if err != nil {
				return lake.Elsewhere(err)
			}
			one.Statistics, err = iceberg.ReadStatistics(file.Name, blob, blob.Size(), columns)
			if err := errors.Join(err, blob.Close()); err != nil {
				return err
			}
		}
		add.Files = append(add.Files, one)
	}
	return nil
}

func (b *tableBuild) location(name string) string { return b.feeds.TableRoot + "/" + name }

// commit writes the files, the metadata last, and makes it the current one. Files that
// are not committed are deleted, or swept after a crash.
func (b *tableBuild) commit(ctx context.Context) error {
	if !b.changed || b.table.Current() == nil {
		_, err := b.feeds.Store.CommitTable(ctx, b.claim, feedmill.TableFiles{})
		return err
	}
	needed := append(b.table.Objects(), b.table.Earlier()...)
	for _, s := range b.table.Snapshots {
		needed = append(needed, s.Files()...)
	}
	metadata, err := b.table.Metadata(b.claim.At)
	if err != nil {
		return err
	}
	files := feedmill.TableFiles{Metadata: b.folder + metadata.Path, Version: b.table.Current().Version}
	for _, path := range append(needed, b.location(files.Metadata)) {
		files.Names = append(files.Names, strings.TrimPrefix(path, b.feeds.TableRoot+"/"))
	}
	live := make(map[string]bool, len(files.Names))
	for _, name := range files.Names {
		live[name] = true
	}
	var written []string
	for _, o := range append(b.objects, metadata) {
		name := b.folder + o.Path
		if !live[name] {
			continue // of a snapshot that is not kept
		}
		written = append(written, name)
		err = b.feeds.Blobs.Put(ctx, name, func(w io.Writer) error { _, err := w.Write(o.Content); return err })
		if err != nil {
			break
		}
	}
	var gone []string
	if err == nil {
		gone, err = b.feeds.Store.CommitTable(ctx, b.claim, files)
	}
	if errors.Is(err, feedmill.ErrConflict) || errors.Is(err, feedmill.ErrNotFound) {
		for _, name := range written {
			b.feeds.remove(name)
		}
	}
	if err != nil {
		return err
	}
	return b.feeds.markUnreferenced(ctx, unmeasured(gone))
}

// rewriteFiles writes the rows of a version once more, so that readers of Iceberg can read
// them. The change makes the table due again.
func (f *Feeds) rewriteFiles(ctx context.Context, workspace feedmill.ID, v feedmill.FeedVersion) {
	if was, _ := f.rewritten.Swap(v.Feed, v.Number); was == v.Number {
		return // once is enough
	}
	err := f.replaceFiles(share.InBackground(ctx, string(workspace)), workspace, v, 0)
	if err != nil && !errors.Is(err, feedmill.ErrConflict) && !errors.Is(err, feedmill.ErrNotFound) {
		f.Log.Warn("the files of a version could not be rewritten; its table stays at an earlier version", "feed", v.Feed, "version", v.Number, "error", err)
	}
}

// readWhole reads a small blob.
func (m *Mill) readWhole(ctx context.Context, name string) ([]byte, error) {
	blob, err := m.Blobs.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(blob)
}

// forgetTables removes the records of tables where there are none any more: their files would
// stay for ever.
func (f *Feeds) forgetTables(ctx context.Context, _ time.Time) (more bool, err error) {
	if f.TableRoot == "" {
		_, err = f.Store.ForgetTables(ctx)
	}
	return false, err
}

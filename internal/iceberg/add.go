package iceberg

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// Version is a version of a feed that becomes a snapshot.
type Version struct {
	Number  int64
	At      time.Time
	Columns []feedmill.Column
	Files   []DataFile
	// Joined means that the rows are those of the current snapshot, in other files.
	Joined bool
}

const (
	// fullManifest is how many files a manifest has that is not merged any more.
	fullManifest = 100
	// smallManifests is how many smaller ones a snapshot has before they are merged.
	smallManifests = 16
)

// Add adds a version as the current snapshot. It returns the files to write before the
// metadata. Manifests of the snapshot before are used again where no file of theirs is gone.
// A version whose files readers cannot read is a [NotConformingError], and changes nothing.
func (t *Table) Add(v Version) ([]Object, error) {
	columns := make(map[string]*feedmill.Column, len(v.Columns))
	for i := range v.Columns {
		columns[v.Columns[i].ID] = &v.Columns[i]
	}
	wanted := make(map[string]*DataFile, len(v.Files))
	for i := range v.Files {
		file := &v.Files[i]
		if wanted[file.Path] != nil {
			return nil, fmt.Errorf("version %d has the file %s twice", v.Number, file.Path)
		}
		wanted[file.Path] = file
		if err := checkFile(file, columns); err != nil {
			return nil, err
		}
	}
	all, err := fieldsOf(v.Columns, true)
	if err != nil {
		return nil, err
	}
	if err := t.Relabel(v.Columns); err != nil {
		return nil, err
	}
	parent := t.Current()
	s := &Snapshot{Sequence: t.lastSequence + 1, Version: v.Number, At: v.At.UnixMilli(), schema: t.useSchema(all)}
	s.ID = t.snapshotID(s.Sequence)
	if parent != nil {
		s.Parent, s.At = parent.ID, max(s.At, parent.At+1)
	}
	c := commit{table: t, snapshot: s}
	if parent != nil {
		c.keep(parent.manifests, wanted)
	}
	c.add(v.Files, wanted)
	c.merge()
	objects, err := c.write()
	if err != nil {
		return nil, err
	}
	s.Operation = c.operation(v.Joined)
	s.summary = c.summarize()
	t.lastSequence, t.updated = s.Sequence, max(t.updated, s.At)
	t.Snapshots = append(t.Snapshots, s)
	return objects, nil
}

// commit is a snapshot while it is put together.
type commit struct {
	table    *Table
	snapshot *Snapshot
	fresh    []*manifest // which are not written yet

	added, removed, total counts
}

type counts struct{ files, rows, bytes int64 }

func (c *counts) add(f *DataFile) {
	c.files++
	c.rows += f.Rows
	c.bytes += f.Bytes
}

// keep takes manifests over. Those with files that are gone are written again, with the files
// that stay and a note of those that do not. Files that stay are no longer wanted.
func (c *commit) keep(manifests []*manifest, wanted map[string]*DataFile) {
	for _, m := range manifests {
		next := &manifest{}
		gone, live := false, 0
		for _, e := range m.entries {
			switch {
			case e.status == statusDeleted:
				continue
			case wanted[e.file.Path] != nil:
				delete(wanted, e.file.Path)
				c.total.add(e.file)
				e.status = statusExisting
				live++
			default:
				c.removed.add(e.file)
				e.status, e.snapshot = statusDeleted, c.snapshot.ID
				gone = true
			}
			next.entries = append(next.entries, e)
		}
		switch {
		case gone:
			c.begin(next)
		case live > 0:
			c.snapshot.manifests = append(c.snapshot.manifests, m)
		}
	}
}

// begin makes a manifest one of the snapshot, to be written.
func (c *commit) begin(m *manifest) {
	m.snapshot, m.sequence, m.schema = c.snapshot.ID, c.snapshot.Sequence, c.snapshot.schema
	c.fresh = append(c.fresh, m)
	c.snapshot.manifests = append(c.snapshot.manifests, m)
}

// add makes a manifest of the files that are still wanted.
func (c *commit) add(files []DataFile, wanted map[string]*DataFile) {
	m := &manifest{}
	for i := range files {
		if file := wanted[files[i].Path]; file != nil {
			m.entries = append(m.entries, entry{statusAdded, c.snapshot.ID, c.snapshot.Sequence, file})
			c.added.add(file)
			c.total.add(file)
		}
	}
	if len(m.entries) > 0 {
		c.begin(m)
	}
}

// merge makes one manifest of small ones that earlier snapshots wrote. Those that this one
// writes stay as they are, because they tell readers what has changed.
func (c *commit) merge() {
	isSmall := func(m *manifest) bool { return !slices.Contains(c.fresh, m) && m.live() < fullManifest }
	var small []*manifest
	for _, m := range c.snapshot.manifests {
		if isSmall(m) {
			small = append(small, m)
		}
	}
	if len(small) <= smallManifests {
		return
	}
	merged := &manifest{}
	for _, m := range small {
		for _, e := range m.entries {
			if e.status != statusDeleted {
				e.status = statusExisting
				merged.entries = append(merged.entries, e)
			}
		}
	}
	c.snapshot.manifests = slices.DeleteFunc(c.snapshot.manifests, func(m *manifest) bool { return slices.Contains(small, m) })
	c.begin(merged)
}

// write returns the manifests and the manifest list.
func (c *commit) write() (objects []Object, err error) {
	at := c.table.Location + "/"
	for _, m := range c.fresh {
		content, err := m.encode(c.table.schema(c.snapshot.schema))
		if err != nil {
			return nil, fmt.Errorf("write manifest: %w", err)
		}
		object := Object{"metadata/" + c.table.contentName(content) + "-m0.avro", content}
		m.path, m.length = at+object.Path, int64(len(content))
		objects = append(objects, object)
	}
	list := Object{Content: encodeList(c.snapshot)}
	list.Path = fmt.Sprintf("metadata/snap-%d-%s.avro", c.snapshot.ID, c.table.contentName(list.Content))
	c.snapshot.list = at + list.Path
	return append(objects, list), nil
}

func (c *commit) operation(joined bool) Operation {
	switch {
	case joined:
		return Replace
	case c.removed.files == 0:
		return Append
	case c.added.files == 0:
		return Delete
	}
	return Overwrite
}

// summarize returns the summary of the snapshot.
func (c *commit) summarize() map[string]string {
	s := map[string]string{"operation": string(c.snapshot.Operation), versionKey: strconv.FormatInt(c.snapshot.Version, 10)}
	set := func(key string, n int64) {
		s[key] = strconv.FormatInt(n, 10)
	}
	if c.added.files > 0 {
		set("added-data-files", c.added.files)
		set("added-records", c.added.rows)
		set("added-files-size", c.added.bytes)
	}
	if c.removed.files > 0 {
		set("deleted-data-files", c.removed.files)
		set("deleted-records", c.removed.rows)
		set("removed-files-size", c.removed.bytes)
	}
	set("total-data-files", c.total.files)
	set("total-records", c.total.rows)
	set("total-files-size", c.total.bytes)
	set("total-delete-files", 0)
	return s
}

package iceberg

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
)

// DataFile is a Parquet file of a table. It never changes.
type DataFile struct {
	// Path is where readers find it.
	Path  string
	Rows  int64
	Bytes int64
	// Columns are those of the file. They are checked when the file is added.
	Columns []feedmill.Column
	Statistics
}

// Statistics are what is known of the values of a file, by field id.
type Statistics struct {
	Sizes        map[int]int64 // bytes in the file
	Nulls        map[int]int64
	Lower, Upper map[int][]byte // in Iceberg's form of a single value
	// Splits are where row groups begin.
	Splits []int64
}

// entry is a file in a manifest.
type entry struct {
	status entryStatus
	// snapshot is that which added the file, or deleted it, and sequence the number of the
	// one that added it.
	snapshot, sequence int64
	file               *DataFile
}

type entryStatus int64

const (
	statusExisting entryStatus = 0
	statusAdded    entryStatus = 1
	statusDeleted  entryStatus = 2
)

// manifest is a list of files. It never changes once it is written.
type manifest struct {
	path     string
	length   int64
	sequence int64 // that of the snapshot that wrote it
	snapshot int64
	schema   int
	entries  []entry
}

// live is how many files of the manifest a reader reads.
func (m *manifest) live() (n int) {
	for i := range m.entries {
		if m.entries[i].status != statusDeleted {
			n++
		}
	}
	return n
}

// count counts files of a status and their rows.
func (m *manifest) count(status entryStatus) (files, rows int64) {
	for i := range m.entries {
		if m.entries[i].status == status {
			files++
			rows += m.entries[i].file.Rows
		}
	}
	return files, rows
}

// minSequence is the least sequence number of a file that readers read.
func (m *manifest) minSequence() int64 {
	least := m.sequence
	for i := range m.entries {
		if m.entries[i].status != statusDeleted {
			least = min(least, m.entries[i].sequence)
		}
	}
	return least
}

// encode is the manifest as an Avro file, with the schema at that time.
func (m *manifest) encode(schema *Schema) ([]byte, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var a avro
	for i := range m.entries {
		m.entries[i].append(&a)
	}
	return container(manifestSchema, []property{
		{"schema", string(text)},
		{"schema-id", strconv.Itoa(schema.ID)},
		{"partition-spec", "[]"},
		{"partition-spec-id", "0"},
		{"format-version", "2"},
		{"content", "data"},
	}, len(m.entries), a.buf), nil
}

func (e *entry) append(a *avro) {
	a.long(int64(e.status))
	for _, n := range []int64{e.snapshot, e.sequence, e.sequence} {
		a.some()
		a.long(n)
	}
	f := e.file
	a.long(0) // data, not deletes
	a.text(f.Path)
	a.text("PARQUET")
	// The partition has no fields, and so no bytes.
	a.long(f.Rows)
	a.long(f.Bytes)
	long := func(a *avro, n int64) { a.long(n) }
	appendMap(a, f.Sizes, long)
	counts := make(map[int]int64, len(f.Nulls))
	for id := range f.Nulls {
		counts[id] = f.Rows
	}
	appendMap(a, counts, long)
	appendMap(a, f.Nulls, long)
	appendMap(a, f.Lower, func(a *avro, b []byte) { a.text(string(b)) })
	appendMap(a, f.Upper, func(a *avro, b []byte) { a.text(string(b)) })
	if len(f.Splits) == 0 {
		a.null()
	} else {
		a.some()
		a.list(len(f.Splits))
		for _, at := range f.Splits {
			a.long(at)
		}
		a.end()
	}
	a.some()
	a.long(0) // not sorted
}

// appendMap appends a map by field id, which Avro has as a list of pairs.
func appendMap[V any](a *avro, m map[int]V, value func(*avro, V)) {
	if len(m) == 0 {
		a.null()
		return
	}
	ids := make([]int, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, cmp.Compare)
	a.some()
	a.list(len(ids))
	for _, id := range ids {
		a.long(int64(id))
		value(a, m[id])
	}
	a.end()
}

// readManifest reads what encode wrote. The columns of files are not in a manifest.
func readManifest(text []byte) (m manifest, err error) {
	properties, err := records(text, func(r *avroReader) {
		e := entry{status: entryStatus(r.long()), file: &DataFile{}}
		for _, n := range []*int64{&e.snapshot, &e.sequence, new(int64)} {
			if r.optional() {
				*n = r.long()
			}
		}
		f := e.file
		r.long()
		f.Path = string(r.bytes())
		r.bytes()
		f.Rows, f.Bytes = r.long(), r.long()
		f.Sizes = readMap(r, r.long)
		readMap(r, r.long)
		f.Nulls = readMap(r, r.long)
		f.Lower, f.Upper = readMap(r, r.bytes), readMap(r, r.bytes)
		if r.optional() {
			r.each(func() { f.Splits = append(f.Splits, r.long()) })
		}
		if r.optional() {
			r.long()
		}
		m.entries = append(m.entries, e)
	})
	if err == nil {
		m.schema, err = strconv.Atoi(properties["schema-id"])
	}
	if err != nil {
		return manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return m, nil
}

func readMap[V any](r *avroReader, value func() V) map[int]V {
	if !r.optional() {
		return nil
	}
	m := make(map[int]V)
	r.each(func() {
		id := int(r.long())
		m[id] = value()
	})
	return m
}

// contentName is the name of a file by its content.
func (t *Table) contentName(content []byte) string {
	sum := sha256.New()
	sum.Write([]byte(t.Salt))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// Table is the state of a table: its snapshots, oldest first, of which the last is current.
type Table struct {
	// UUID identifies the table, and Location is where its files are.
	UUID, Location string
	// Salt makes the names of files differ from those of other writers of the same content.
	Salt      string
	Snapshots []*Snapshot

	schemas      []Schema
	current      int // the id of the current schema
	lastSchema   int
	lastColumn   int
	lastSequence int64
	updated      int64
	written      int // how many metadata files were written
	earlier      []earlierMetadata
}

// Snapshot is a version of the table's data.
type Snapshot struct {
	ID, Parent, Sequence int64
	// Version is the version of the feed.
	Version   int64
	At        int64 // milliseconds since 1970
	Operation Operation
	// schema has all columns of the files, also the hidden ones, which the current schema of
	// the table lacks: ClickHouse refuses files with columns that their snapshot lacks.
	schema    int
	list      string // path of the manifest list
	manifests []*manifest
	summary   map[string]string
}

// Operation is what a snapshot did to the data.
type Operation string

// The operations.
const (
	Append    Operation = "append"    // only added files
	Overwrite Operation = "overwrite" // added and removed rows
	Delete    Operation = "delete"    // only removed files
	Replace   Operation = "replace"   // the same rows in other files
)

// Object is a file to write.
type Object struct {
	// Path is below the location of the table.
	Path    string
	Content []byte
}

// earlierMetadata is a metadata file that came before.
type earlierMetadata struct {
	At   int64  `json:"timestamp-ms"`
	File string `json:"metadata-file"`
}

// keepMetadata is how many earlier metadata files a table lists.
const keepMetadata = 10

// New is a table without snapshots.
func New(uuid, location string) *Table {
	return &Table{UUID: uuid, Location: location, lastSchema: -1}
}

// Current is the current snapshot, nil where there is none.
func (t *Table) Current() *Snapshot {
	if len(t.Snapshots) == 0 {
		return nil
	}
	return t.Snapshots[len(t.Snapshots)-1]
}

// Number makes n the number of the next metadata file. Readers that list files take the
// greatest.
func (t *Table) Number(n int) { t.written = n - 1 }

// Earlier are the locations of the metadata files before the next one, which readers can still
// find in it.
func (t *Table) Earlier() (paths []string) {
	for _, e := range t.earlier {
		paths = append(paths, e.File)
	}
	return paths
}

// Schema is the id of the current schema. It changes with the columns.
func (t *Table) Schema() int { return t.current }

// Relabel makes columns the current schema. Snapshots keep theirs.
func (t *Table) Relabel(columns []feedmill.Column) error {
	fields, err := fieldsOf(columns, false)
	if err != nil {
		return err
	}
	t.lastColumn = feedmill.LastNumber(t.lastColumn, columns)
	t.current = t.useSchema(fields)
	return nil
}

// useSchema is the id of the schema with some fields, which is added where there is none.
func (t *Table) useSchema(fields []Field) int {
	for _, s := range t.schemas {
		if slices.Equal(s.Fields, fields) {
			return s.ID
		}
	}
	t.lastSchema++
	t.schemas = append(t.schemas, Schema{Type: "struct", ID: t.lastSchema, Fields: fields})
	return t.lastSchema
}

// schema is the schema of an id.
func (t *Table) schema(id int) *Schema {
	at := slices.IndexFunc(t.schemas, func(s Schema) bool { return s.ID == id })
	return &t.schemas[at]
}

// Files are the paths of the files that a reader of the snapshot reads.
func (s *Snapshot) Files() (paths []string) {
	for _, m := range s.manifests {
		for i := range m.entries {
			if m.entries[i].status != statusDeleted {
				paths = append(paths, m.entries[i].file.Path)
			}
		}
	}
	return paths
}

// Expire removes the snapshots that are not kept, but never the current one: those of swept
// versions, and those whose files were joined since, because such files are swept as well.
func (t *Table) Expire(kept func(*Snapshot) bool) {
	current := t.Current()
	t.Snapshots = slices.DeleteFunc(t.Snapshots, func(s *Snapshot) bool { return s != current && !kept(s) })
	used := map[int]bool{t.current: true}
	for _, s := range t.Snapshots {
		used[s.schema] = true
		for _, m := range s.manifests {
			used[m.schema] = true
		}
	}
	t.schemas = slices.DeleteFunc(t.schemas, func(s Schema) bool { return !used[s.ID] })
}

// Objects are the paths of all manifests and manifest lists that the table needs.
func (t *Table) Objects() (paths []string) {
	seen := make(map[string]bool)
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	for _, s := range t.Snapshots {
		add(s.list)
		for _, m := range s.manifests {
			add(m.path)
		}
	}
	return paths
}

// tableJSON is a metadata file.
type tableJSON struct {
	FormatVersion    int                `json:"format-version"`
	UUID             string             `json:"table-uuid"`
	Location         string             `json:"location"`
	LastSequence     int64              `json:"last-sequence-number"`
	LastUpdated      int64              `json:"last-updated-ms"`
	LastColumn       int                `json:"last-column-id"`
	CurrentSchema    int                `json:"current-schema-id"`
	Schemas          []Schema           `json:"schemas"`
	DefaultSpec      int                `json:"default-spec-id"`
	Specs            []specJSON         `json:"partition-specs"`
	LastPartition    int                `json:"last-partition-id"`
	DefaultSortOrder int                `json:"default-sort-order-id"`
	SortOrders       []orderJSON        `json:"sort-orders"`
	Properties       map[string]string  `json:"properties"`
	CurrentSnapshot  *int64             `json:"current-snapshot-id,omitempty"`
	Refs             map[string]refJSON `json:"refs"`
	Snapshots        []snapshotJSON     `json:"snapshots"`
	SnapshotLog      []snapshotLogJSON  `json:"snapshot-log"`
	MetadataLog      []earlierMetadata  `json:"metadata-log"`
}

type specJSON struct {
	ID     int   `json:"spec-id"`
	Fields []int `json:"fields"`
}

type orderJSON struct {
	ID     int   `json:"order-id"`
	Fields []int `json:"fields"`
}

type refJSON struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"`
}

type snapshotJSON struct {
	ID       int64             `json:"snapshot-id"`
	Parent   *int64            `json:"parent-snapshot-id,omitempty"`
	Sequence int64             `json:"sequence-number"`
	At       int64             `json:"timestamp-ms"`
	List     string            `json:"manifest-list"`
	Summary  map[string]string `json:"summary"`
	Schema   int               `json:"schema-id"`
}

type snapshotLogJSON struct {
	At int64 `json:"timestamp-ms"`
	ID int64 `json:"snapshot-id"`
}

// The members of summaries, and properties, that only Feedmill has.
const (
	versionKey    = "feedmill.version"
	lastSchemaKey = "feedmill.last-schema-id"
)

// Metadata is the next metadata file of the table at a time.
func (t *Table) Metadata(at time.Time) (Object, error) {
	t.updated = max(t.updated, at.UnixMilli())
	m := tableJSON{
		FormatVersion: 2, UUID: t.UUID, Location: t.Location,
		LastSequence: t.lastSequence, LastUpdated: t.updated, LastColumn: t.lastColumn,
		CurrentSchema: t.current, Schemas: t.schemas,
		Specs: []specJSON{{0, []int{}}}, LastPartition: 999, SortOrders: []orderJSON{{0, []int{}}},
		Properties: map[string]string{lastSchemaKey: strconv.Itoa(t.lastSchema), "write.parquet.compression-codec": "zstd"},
		Refs:       map[string]refJSON{}, Snapshots: []snapshotJSON{}, SnapshotLog: []snapshotLogJSON{},
		MetadataLog: t.earlier,
	}
	if m.MetadataLog == nil {
		m.MetadataLog = []earlierMetadata{}
	}
	for _, s := range t.Snapshots {
		one := snapshotJSON{ID: s.ID, Sequence: s.Sequence, At: s.At, List: s.list, Summary: s.summary, Schema: s.schema}
		if s.Parent != 0 {
			one.Parent = &s.Parent
		}
		m.Snapshots = append(m.Snapshots, one)
		m.SnapshotLog = append(m.SnapshotLog, snapshotLogJSON{s.At, s.ID})
	}
	if current := t.Current(); current != nil {
		m.CurrentSnapshot, m.Refs["main"] = &current.ID, refJSON{current.ID, "branch"}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return Object{}, fmt.Errorf("write table metadata: %w", err)
	}
	t.written++
	name := t.contentName(text)
	file := Object{fmt.Sprintf("metadata/%05d-%s-%s-%s-%s-%s.metadata.json", t.written, name[:8], name[8:12], name[12:16], name[16:20], name[20:]), text}
	t.earlier = append(slices.Clone(t.earlier), earlierMetadata{t.updated, t.Location + "/" + file.Path})
	t.earlier = t.earlier[max(len(t.earlier)-keepMetadata, 0):]
	return file, nil
}

// snapshotID is the id of the snapshot with a sequence number. It has 52 bits, because some
// readers have no greater integers.
func (t *Table) snapshotID(sequence int64) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", t.UUID, sequence))
	return int64(binary.BigEndian.Uint64(sum[:])>>12) | 1
}

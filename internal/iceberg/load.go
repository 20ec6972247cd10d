package iceberg

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// ErrMoved is the error of a table whose files were written for another location.
var ErrMoved = errors.New("the table has moved")

// Load reads a table from its metadata file, whose path is given. read returns the content
// of a file that this package wrote.
func Load(location, file string, read func(path string) ([]byte, error)) (*Table, error) {
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	var m tableJSON
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read table metadata: %w", err)
	}
	if m.Location != location {
		return nil, fmt.Errorf("%w: from %s to %s", ErrMoved, m.Location, location)
	}
	t := &Table{
		UUID: m.UUID, Location: location, schemas: m.Schemas, current: m.CurrentSchema, lastColumn: m.LastColumn,
		lastSequence: m.LastSequence, updated: m.LastUpdated,
		earlier: append(m.MetadataLog, earlierMetadata{m.LastUpdated, location + "/" + file}),
	}
	t.earlier = t.earlier[max(len(t.earlier)-keepMetadata, 0):]
	digits, _, _ := strings.Cut(path.Base(file), "-")
	if t.written, err = strconv.Atoi(digits); err != nil {
		return nil, fmt.Errorf("read table metadata: the name of %s has no number: %w", file, err)
	}
	if t.lastSchema, err = strconv.Atoi(m.Properties[lastSchemaKey]); err != nil {
		return nil, fmt.Errorf("read table metadata: %s: %w", lastSchemaKey, err)
	}
	shared := make(map[string]*manifest)
	for _, s := range m.Snapshots {
		one, err := loadSnapshot(&s, location, shared, read)
		if err != nil {
			return nil, err
		}
		t.Snapshots = append(t.Snapshots, one)
	}
	return t, nil
}

func loadSnapshot(s *snapshotJSON, location string, shared map[string]*manifest, read func(path string) ([]byte, error)) (*Snapshot, error) {
	one := &Snapshot{ID: s.ID, Sequence: s.Sequence, At: s.At, Operation: Operation(s.Summary["operation"]), schema: s.Schema, list: s.List, summary: s.Summary}
	if s.Parent != nil {
		one.Parent = *s.Parent
	}
	var err error
	if one.Version, err = strconv.ParseInt(s.Summary[versionKey], 10, 64); err != nil {
		return nil, fmt.Errorf("read table metadata: %s of snapshot %d: %w", versionKey, s.ID, err)
	}
	text, err := read(strings.TrimPrefix(s.List, location+"/"))
	if err != nil {
		return nil, err
	}
	listed, err := readList(text)
	if err != nil {
		return nil, err
	}
	for _, m := range listed {
		if shared[m.path] == nil {
			text, err := read(strings.TrimPrefix(m.path, location+"/"))
			if err != nil {
				return nil, err
			}
			read, err := readManifest(text)
			if err != nil {
				return nil, err
			}
			m.entries, m.schema = read.entries, read.schema
			shared[m.path] = m
		}
		one.manifests = append(one.manifests, shared[m.path])
	}
	return one, nil
}

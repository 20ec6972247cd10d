package iceberg

import (
	"fmt"
	"strconv"
)

// encodeList is the manifest list of a snapshot as an Avro file.
func encodeList(s *Snapshot) []byte {
	var a avro
	for _, m := range s.manifests {
		a.text(m.path)
		a.long(m.length)
		a.long(0) // partition spec
		a.long(0) // data, not deletes
		a.long(m.sequence)
		a.long(m.minSequence())
		a.long(m.snapshot)
		statuses := []entryStatus{statusAdded, statusExisting, statusDeleted}
		for _, status := range statuses {
			files, _ := m.count(status)
			a.long(files)
		}
		for _, status := range statuses {
			_, rows := m.count(status)
			a.long(rows)
		}
		a.null() // partitions
	}
	parent := "null"
	if s.Parent != 0 {
		parent = strconv.FormatInt(s.Parent, 10)
	}
	return container(manifestListSchema, []property{
		{"snapshot-id", strconv.FormatInt(s.ID, 10)},
		{"parent-snapshot-id", parent},
		{"sequence-number", strconv.FormatInt(s.Sequence, 10)},
		{"format-version", "2"},
	}, len(s.manifests), a.buf)
}

// readList reads what encodeList wrote. The entries of the manifests are missing.
func readList(text []byte) (manifests []*manifest, err error) {
	_, err = records(text, func(r *avroReader) {
		m := &manifest{path: string(r.bytes()), length: r.long()}
		r.long()
		r.long()
		m.sequence = r.long()
		r.long()
		m.snapshot = r.long()
		for range 6 {
			r.long()
		}
		if r.optional() {
			r.failed = true
		}
		manifests = append(manifests, m)
	})
	if err != nil {
		return nil, fmt.Errorf("read manifest list: %w", err)
	}
	return manifests, nil
}

package lake

import (
	"context"
	"fmt"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// assemble puts a version together of what stays of two sides. Files of which
// nothing is left out and that can be read as they lie are taken over; the rows of
// those between them are written anew.
func (r *Reader) assemble(ctx context.Context, name string, c *Combination, old, fresh *side) (Combined, error) {
	a := assembly{r: r, name: name, columns: c.Columns}
	for _, s := range []*side{old, fresh} {
		if s.version.Rows > 0 {
			if err := a.addSide(ctx, s); err != nil {
				return Combined{}, err
			}
		}
	}
	if err := a.write(ctx); err != nil {
		return Combined{}, err
	}
	if len(a.files) == 0 {
		// A version has a file, and be it one without rows.
		if err := a.writeRows(ctx, func(func([]columnar.Vector, error) bool) {}); err != nil {
			return Combined{}, err
		}
	}
	if err := r.sumFiles(ctx, c.Columns, a.files); err != nil {
		return Combined{}, err
	}
	out := Combined{Version: versionOf(name, c.Columns, a.files), Written: a.written, Replaced: old.omitted.count()}
	omitted := fresh.omitted.count()
	out.Added, out.Superseded, out.Known = fresh.version.Rows-omitted, fresh.duplicates, omitted-fresh.duplicates.Rows
	out.Deletions = fresh.deletions.count()
	out.Known -= out.Deletions
	return out, nil
}

// assembly is a version while it is put together.
type assembly struct {
	r       *Reader
	name    string
	columns []feedmill.Column
	files   []feedmill.VersionFile
	written []string
	// pending are parts whose rows are to be written, to one file.
	pending []*side
}

// addSide takes the files of a side over, or notes that what is left of them is to be
// written.
func (a *assembly) addSide(ctx context.Context, s *side) error {
	first := int64(0)
	for i, file := range s.version.Files {
		end := first + file.Rows
		switch omitted := s.omitted.between(first, end); {
		case omitted == file.Rows: // nothing is left of it
		case omitted == 0 && reads(s.version.physical(&s.version.Files[i]), a.columns):
			// A version whose files lie in two places could be read in neither.
			if err := a.r.CheckFiles(ctx, &Version{Files: s.version.Files[i : i+1]}); err != nil {
				return err
			}
			if err := a.write(ctx); err != nil {
				return err
			}
			a.files = append(a.files, s.version.as(file, a.columns))
		default:
			part, err := a.r.part(ctx, s, i, first, a.columns)
			if err != nil {
				return err
			}
			a.pending = append(a.pending, part)
		}
		first = end
	}
	return nil
}

// part is one file of a side.
func (r *Reader) part(ctx context.Context, s *side, i int, first int64, columns []feedmill.Column) (*side, error) {
	file := s.version.Files[i]
	part, err := r.side(ctx, &Version{Columns: s.version.Columns, Files: []feedmill.VersionFile{file}, Rows: file.Rows}, columns)
	if err != nil {
		return nil, err
	}
	part.first, part.omitted = first, s.omitted
	return part, nil
}

// write writes the rows that are to be written.
func (a *assembly) write(ctx context.Context) error {
	if len(a.pending) == 0 {
		return nil
	}
	parts := a.pending
	a.pending = nil
	return a.writeRows(ctx, func(yield func([]columnar.Vector, error) bool) {
		for _, part := range parts {
			for block, err := range a.r.rows(ctx, part, a.columns) {
				if !yield(block, err) {
					return
				}
			}
		}
	})
}

func (a *assembly) writeRows(ctx context.Context, rows iter.Seq2[[]columnar.Vector, error]) error {
	name := a.name
	if n := len(a.written); n > 0 {
		name = fmt.Sprintf("%s.%d", name, n+1)
	}
	file, err := writeFile(ctx, a.r.blobs, name, feedmill.TypedTable{Columns: a.columns, Runs: rows})
	if err != nil {
		return fmt.Errorf("write version: %w", err)
	}
	a.written, a.files = append(a.written, name), append(a.files, file)
	return nil
}

// reads reports whether all files of the version can be read with other columns as
// they lie.
func (v *Version) reads(columns []feedmill.Column) bool {
	for i := range v.Files {
		if !reads(v.physical(&v.Files[i]), columns) {
			return false
		}
	}
	return true
}

// sumFiles adds up the rows of files of which that is not known because an old
// release has written them.
func (r *Reader) sumFiles(ctx context.Context, columns []feedmill.Column, files []feedmill.VersionFile) error {
	for i := range files {
		if _, ok := fileSum(&files[i]); ok {
			continue
		}
		s, err := r.side(ctx, &Version{Columns: columns, Files: files[i : i+1], Rows: files[i].Rows}, columns)
		if err != nil {
			return err
		}
		sum := newSummer(columns)
		for block, err := range r.rows(ctx, s, columns) {
			if err != nil {
				return err
			}
			sum.add(block)
		}
		files[i].Sum = sum.String()
	}
	return nil
}

// Rehash is the version with the content hash that it has by its rows, which those
// of old releases have not.
func (r *Reader) Rehash(ctx context.Context, v Version) (Version, error) {
	v.Files = append([]feedmill.VersionFile(nil), v.Files...)
	if err := r.sumFiles(ctx, v.Columns, v.Files); err != nil {
		return Version{}, fmt.Errorf("add up rows: %w", err)
	}
	v.ContentHash = contentHash(v.Columns, v.Files)
	return v, nil
}

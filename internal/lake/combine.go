package lake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Combination is rows that a feed has and rows that come to them.
type Combination struct {
	// Old is the version that the feed has, nil where it has none, and New has
	// the rows that come.
	Old, New *Version
	// Columns are those of the result. They are found in both versions by
	// their ids; a column that a version lacks is null in its rows. A type may
	// be wider than it was: values are then made exactly of the wider one, and
	// compared as such.
	Columns []feedmill.Column
	// Key names the columns by which rows are merged. Without any, the new rows
	// come after the old ones. With a key, each value of it has one row: of
	// those in New the last, and a row of Old where New has none. A new row
	// without a value in the key is refused. A row of Old that is the same in New
	// stays where it is.
	Key []string
	// Overlap, where there is no key, says which new rows are left out where old
	// ones are equal to them, as often as they are. It may be nil.
	Overlap *Overlap
	// Deletes, where there is a key, says which rows are deleted.
	Deletes Deletes
}

// Combine makes a version with the rows of both: first those that stay of the old
// one, then those of the new one, each in their order. Files all of whose rows stay
// are taken as they are; what is left of the others is written to files whose names
// begin with name.
//
// Rows are read and written as a stream. What is held of them is a bit for each;
// the keys are compared by a worker, which puts on disk what does not fit into
// its memory.
func (r *Reader) Combine(ctx context.Context, name string, c Combination) (Combined, error) {
	v, err := r.combine(ctx, name, &c)
	if err != nil {
		return Combined{}, fmt.Errorf("combine versions: %w", err)
	}
	return v, nil
}

// Combined is what became of a combination.
type Combined struct {
	Version
	// Written are the names of files that were written for it.
	Written []string
	// Replaced is how many rows of the old version another one has taken the
	// place of, and Added how many rows there are of the new one.
	Replaced, Added int64
	// Superseded are the new rows whose key a later new row has, and Known is how
	// many new rows were left out because the old version has them.
	Superseded Duplicates
	Known      int64
	// Deletions is how many rows of the new version mark a deletion.
	Deletions int64
}

func (r *Reader) combine(ctx context.Context, name string, c *Combination) (Combined, error) {
	if c.Old == nil || c.Old.Rows == 0 {
		c.Old = &Version{}
	}
	fresh, err := r.side(ctx, c.New, c.Columns)
	if err != nil {
		return Combined{}, err
	}
	if len(c.Key) == 0 && c.Overlap == nil && c.Old.reads(c.Columns) {
		return r.assemble(ctx, name, c, &side{version: c.Old}, fresh) // no rows are looked at
	}
	old, err := r.side(ctx, c.Old, c.Columns)
	if err != nil {
		return Combined{}, err
	}
	if len(c.Key) > 0 {
		if err := r.match(ctx, c, old, fresh); err != nil {
			return Combined{}, err
		}
	} else if c.Overlap != nil {
		if err := r.matchOverlap(ctx, *c.Overlap, old, fresh); err != nil {
			return Combined{}, err
		}
	}
	return r.assemble(ctx, name, c, old, fresh)
}

// side is one of the versions that are combined, or a part of it.
type side struct {
	version *Version
	// first is the number of the first row.
	first int64
	// from is what SQL selects its rows from, and columns what it has for each
	// column of the result, empty where there is none.
	from    string
	columns []string
	// scans are the parts of from, where it is read part by part.
	scans []string
	// texts says which columns of the result are text or JSON.
	texts []bool
	// files are what SQL calls its files, and where they are.
	files map[string]string
	// omitted are the rows that are left out, by their numbers in the version,
	// and duplicates those of them whose key a later row has.
	omitted    bitmap
	duplicates Duplicates
	// deletions are the rows that mark a deletion; they are not stored.
	deletions bitmap
}

// side finds the columns of the result in a version.
func (r *Reader) side(ctx context.Context, v *Version, columns []feedmill.Column) (*side, error) {
	s := &side{version: v, columns: make([]string, len(columns))}
	if v.Rows == 0 {
		return s, nil
	}
	s.files = lentFiles(v.Files)
	s.from, s.scans = v.scan("", 0), v.scans("", 0)
	s.texts = make([]bool, len(columns))
	for i := range columns {
		s.texts[i] = columns[i].Type == columnar.TypeText || columns[i].Type == columnar.TypeJSON
		at := slices.IndexFunc(v.Columns, func(c feedmill.Column) bool { return c.ID == columns[i].ID })
		if at < 0 {
			continue
		}
		sql, ok := widened(&v.Columns[at], &columns[i], fmt.Sprintf("c%d", at))
		if !ok {
			return nil, &feedmill.Error{
				Kind: feedmill.ErrUnprocessable, Type: "narrowed-column",
				Detail: fmt.Sprintf("column %q has the type %s, but stored rows of the type %s cannot be converted to it without loss",
					columns[i].Name, columns[i].Type, v.Columns[at].Type),
			}
		}
		s.columns[i] = sql
	}
	return s, nil
}

// match finds the rows that are left out because another has the same key.
func (r *Reader) match(ctx context.Context, c *Combination, old, fresh *side) error {
	keys := make([]int, len(c.Key))
	for i, name := range c.Key {
		keys[i] = slices.IndexFunc(c.Columns, func(column feedmill.Column) bool { return column.Name == name })
		if keys[i] < 0 {
			return &feedmill.Error{
				Kind: feedmill.ErrUnprocessable, Type: "no-key-column",
				Detail: fmt.Sprintf("the data has no column %q, which is part of the key", name),
			}
		}
	}
	if fresh.version.Rows == 0 {
		return nil
	}
	for i, key := range keys {
		if err := r.wantKey(ctx, fresh, key, c.Key[i]); err != nil {
			return err
		}
	}
	if err := r.markDeletions(ctx, c.Deletes, fresh); err != nil {
		return err
	}
	var err error
	if fresh.omitted, fresh.duplicates, err = r.duplicates(ctx, fresh, c.Columns, keys); err != nil {
		return err
	}
	fresh.omitted = slices.Clone(fresh.deletions).and(fresh.omitted)
	matched, any := matching(old, fresh, keys)
	if !any || old.version.Rows == 0 {
		return nil
	}
	if old.omitted, err = r.numbers(ctx, matched.sql("SEMI"), old, fresh); err != nil {
		return err
	}
	if old.omitted.first() >= 0 {
		err = r.keepUnchanged(ctx, old, fresh, keys)
	}
	if err == nil && c.Deletes.Rest {
		err = r.omitRest(ctx, matched, old, fresh)
	}
	return err
}

// wantKey refuses rows without a value in a column of the key.
func (r *Reader) wantKey(ctx context.Context, s *side, key int, name string) error {
	first := int64(0)
	if s.columns[key] != "" {
		var err error
		first, err = r.number(ctx, "SELECT nr FROM "+s.from+" WHERE "+s.columns[key]+" IS NULL ORDER BY nr LIMIT 1", s)
		if first < 0 || err != nil {
			return err
		}
	}
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "null-key",
		Detail: fmt.Sprintf("row %d is null in column %q, which is part of the key; fix the row, or remove the column from key", first+1, name),
	}
}

// matched compares the keys of old rows with those of new ones.
type matched struct {
	olds, news, equal []string
	old, fresh        *side
}

// matching compares the keys of two sides. Where the old rows have no such column there is
// nothing to compare.
func matching(old, fresh *side, keys []int) (m matched, any bool) {
	m.old, m.fresh = old, fresh
	for i, key := range keys {
		if old.columns[key] == "" {
			return m, false
		}
		m.olds = append(m.olds, fmt.Sprintf("%s AS k%d", old.columns[key], i))
		m.news = append(m.news, fmt.Sprintf("%s AS k%d", fresh.columns[key], i))
		m.equal = append(m.equal, fmt.Sprintf("o.k%d = n.k%d", i, i))
	}
	return m, true
}

// sql selects the numbers of the old rows whose key a new row has (a SEMI join) or has not
// (an ANTI join).
func (m matched) sql(join string) string {
	return "SELECT o.nr FROM (SELECT " + strings.Join(m.olds, ", ") + ", nr FROM " + m.old.from + ") AS o " + join + " JOIN (SELECT " +
		strings.Join(m.news, ", ") + " FROM " + m.fresh.from + ") AS n ON " + strings.Join(m.equal, " AND ")
}

// tooLarge says of a failure for want of memory what it was that failed.
func tooLarge(err error) error {
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok && refusal.Type == queryTooLarge {
		return &feedmill.Error{
			Kind: feedmill.ErrUnprocessable, Type: queryTooLarge,
			Detail: "The keys of the rows are too many or too long to merge within the memory limit of one query. Use a shorter key, or mode=replace.",
		}
	}
	return err
}

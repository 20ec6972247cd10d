package shape

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// isDeleted reports whether a record marks its row as deleted.
func (d *deletes) isDeleted(ctx context.Context, raw []byte) (bool, error) {
	if d == nil || d.Flag == nil || raw[0] != '{' && d.Own != "" {
		return false, nil
	}
	var found []byte
	if d.Own != "" {
		members, err := find.MembersOf(raw)
		if err != nil {
			return false, err
		}
		found = find.Lookup(members, d.Own)
	} else {
		record, err := find.ParseTree(ctx, raw)
		if err != nil {
			return false, err
		}
		defer record.Release()
		nodes, err := record.Find(ctx, d.Flag)
		if err != nil || len(nodes) == 0 {
			return false, err
		}
		found = record.Text(nodes[0])
	}
	if found == nil {
		return false, nil
	}
	v := find.ValueOf(found)
	return d.Test.Matches(&find.Value{Kind: v.Kind, Raw: v.Raw}), nil
}

// deletes is how a reshaper marks deletions.
type deletes struct {
	*spec.Deletion
	// keys are the columns of the key, and only the members of a row that marks a deletion.
	keys []string
	only map[string]bool
	// drop leaves the deletions out, as in a preview.
	drop bool
	// listed is how many deletions a list on the last page had, and count how many there were
	// in all.
	listed, count int64
}

// newDeletes is how the deletions of a feed are marked.
func newDeletes(d *spec.Deletion, feed feedmill.Feed, drop bool) *deletes {
	out := &deletes{Deletion: d, drop: drop, only: map[string]bool{spec.DeletedMark: true}}
	for _, name := range feed.Key {
		if at := slices.IndexFunc(feed.Columns, func(c feedmill.Column) bool { return c.Name == name }); at >= 0 {
			name = feed.Columns[at].SourceName
		}
		out.keys = append(out.keys, name)
		out.only[name] = true
		for i := range name {
			if name[i] == '.' {
				out.only[name[:i]] = true // the object that has the member
			}
		}
	}
	return out
}

// told returns what the loader needs to know about the deletions.
func (d *deletes) told() *feedmill.PageDeletes {
	return &feedmill.PageDeletes{Column: spec.DeletedMark, Listed: func() int64 { return d.listed }, Count: func() int64 { return d.count }}
}

// deletion makes a row that marks a deletion of a record.
func (r *reshaper) deletion(ctx context.Context, key string, raw []byte, names []string, with []feedmill.PageColumn) ([]byte, error) {
	r.row.only = r.deletes.only
	defer func() { r.row.only = nil }()
	line, err := r.line(ctx, key, raw, names, with)
	if err != nil {
		return nil, err
	}
	members, err := find.MembersOf(line)
	for _, name := range r.deletes.keys {
		if v := find.Lookup(members, name); err == nil && (v == nil || find.ValueOf(v).Kind == 'n') {
			err = fmt.Errorf("a deleted record has no value for the key column %q", name)
		}
	}
	r.deletes.count++
	return line, err
}

// listed writes a row for each deletion that the page lists.
func (r *reshaper) listed(ctx context.Context, p feedmill.FetchedPage, names []string, write func(line []byte) error) error {
	d := r.deletes
	if d == nil || d.Path == nil || d.drop {
		return nil
	}
	// What is listed is not a record: the cursor and the counts are about records.
	see, seen := r.see, r.seen
	r.see = nil
	defer func() { r.see, r.seen = see, seen }()
	d.listed = 0
	return EachRecord(ctx, p, d.Path.String(), r.spool, func(raw []byte) (err error) {
		d.listed++
		var line []byte
		if raw[0] == '{' || raw[0] == '[' {
			line, err = r.deletion(ctx, "", raw, names, p.With)
		} else {
			line, err = r.deletedKey(raw, p.With)
		}
		if err != nil {
			return spec.Fail("deleted", nil, "Element %d of %s on page %d: %s.", d.listed, d.Path, p.Number, err)
		}
		return write(line)
	})
}

// deletedKey makes a row that marks a deletion of a value of the key, which is of one column
// besides those of the parent.
func (r *reshaper) deletedKey(raw []byte, with []feedmill.PageColumn) ([]byte, error) {
	d := r.deletes
	own := slices.DeleteFunc(slices.Clone(d.keys), func(name string) bool {
		return slices.ContainsFunc(with, func(c feedmill.PageColumn) bool { return c.Name == name })
	})
	if len(own) != 1 || find.ValueOf(raw).Kind == 'n' {
		return nil, fmt.Errorf("%s is not a value for the key (%s)", spec.Shorten(string(raw)), strings.Join(d.keys, ", "))
	}
	w := &r.row
	w.reset()
	w.only = d.only
	defer func() { w.only = nil }()
	w.add(own[0], raw)
	for _, c := range with {
		w.add(c.Name, c.JSON)
	}
	d.count++
	return w.end(), nil
}

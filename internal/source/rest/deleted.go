package rest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// deletion is how a source reports the rows that it has deleted: in a list of its own, or by
// a flag in the record. One of path and flag is set.
type deletion struct {
	path *jsonpath.Path
	flag *jsonpath.Path
	// own is the member of the record that the flag is, empty for a longer path.
	own  string
	test test
}

// deletedMark is the column of a row that marks a deletion. No version has it.
const deletedMark = "_feedmill_deleted"

// readDeleted reads how the source reports deleted rows; nil where it does not.
func (o *object) readDeleted() *deletion {
	in := o.object("deleted")
	if in == nil {
		return nil
	}
	d := &deletion{test: test{kind: testEquals, than: strictjson.Value{Kind: 't', Raw: []byte("true")}}}
	in.Know("equals")
	switch {
	case in.Has("path") == in.Has("flag"):
		in.Know("path")
		in.Know("flag")
		o.unreadable("deleted", "deleted needs either path, where the response lists deleted records, or flag, the member of a record that marks it as deleted.")
	case in.Has("path"):
		d.path = in.path("path", true)
		if in.Has("equals") {
			in.Fault("equals", "equals applies to flag; remove it or set flag instead of path.")
		}
	default:
		d.readFlag(in)
	}
	in.RefuseUnknown()
	return d
}

// readFlag reads the flag of a record: a JSONPath, or the name of a member.
func (d *deletion) readFlag(in *object) {
	text := in.needText("flag")
	if text != "" && text[0] != '$' {
		name := strictjson.String(text)
		text = "$[" + string(name.Raw) + "]"
	}
	var err error
	if d.flag, err = jsonpath.Parse(text); err != nil && text != "" {
		in.unreadable("flag", "flag is not a valid JSONPath or member name: "+err.Error()+".")
	}
	if d.flag != nil {
		if steps, ok := d.flag.Steps(); ok && len(steps) == 1 {
			d.own, _ = steps[0].Name()
		}
	}
	v := in.Value.Member("equals")
	switch {
	case v == nil:
	case v.Kind == '{' || v.Kind == '[':
		in.unreadable("equals", "equals must be a text, a number, true, false or null.")
	default:
		d.test.than = *v
	}
}

// minFullEvery and maxFullEvery are how often a full fetch may be made.
const (
	minFullEvery = time.Minute
	maxFullEvery = 366 * 24 * time.Hour
)

// checkDeletes notes deletes that a definition cannot have.
func (d *Definition) checkDeletes(r *reading) {
	merges := d.Mode == feedmill.ModeMerge && len(d.Key) > 0
	if d.Response.Deleted != nil {
		if !merges {
			r.fault("/deleted", "Rows are deleted by their key, in mode merge. Set mode to merge and key to the columns that identify a row.")
		}
		if d.Response.Explode != "" {
			r.fault("/deleted", "deleted cannot be combined with response.explode: a deleted record does not identify the rows that were created from it.")
		}
	}
	if d.Spec == nil || d.Spec.fullEvery == 0 {
		return
	}
	inc := d.Spec.incremental
	switch {
	case inc == nil:
		r.fault("/fullEvery", "fullEvery needs incremental; without it every fetch is full. Use mode replace to remove rows that no longer appear.")
	case !merges:
		r.fault("/fullEvery", "A full fetch removes rows by their key, in mode merge. Set mode to merge and key to the columns that identify a row.")
	case !inc.start.plain():
		r.fault("/incremental/start", "With fullEvery, start must be fixed. A full fetch would delete all rows from before "+inc.start.text+".")
	}
}

// fullDue reports whether a fetch is to bring everything, so that the rows that no longer
// appear can be deleted.
func (s *Spec) fullDue(f feedmill.Fetch) (bool, error) {
	if s.fullEvery == 0 || s.incremental == nil || f.Enough > 0 {
		return false, nil
	}
	for _, feed := range f.Feeds {
		p, err := parsePosition(feed.Position)
		if err != nil {
			return false, err
		}
		if feed.Expects.Accept || f.Now.Sub(p.Full) >= s.fullEvery {
			return true, nil
		}
	}
	return false, nil
}

// fromStart is a position from which everything is fetched again.
func (p position) fromStart() position { return position{Fetches: p.Fetches} }

// noteFull is a position with the time of the last full fetch: now, or that of the position
// before.
func (s *Spec) noteFull(pos, before []byte, full bool, now time.Time) ([]byte, error) {
	if s.fullEvery == 0 {
		return pos, nil
	}
	p, err := parsePosition(pos)
	if err != nil {
		return nil, err
	}
	old, err := parsePosition(before)
	if err != nil {
		return nil, err
	}
	if p.Full = old.Full; full || len(before) == 0 {
		p.Full = now.UTC()
	}
	return p.text(), nil
}

// isDeleted reports whether a record marks its row as deleted.
func (d *deletes) isDeleted(ctx context.Context, raw []byte) (bool, error) {
	if d == nil || d.flag == nil || raw[0] != '{' && d.own != "" {
		return false, nil
	}
	var found []byte
	if d.own != "" {
		members, err := membersOf(raw)
		if err != nil {
			return false, err
		}
		found = lookup(members, d.own)
	} else {
		record, err := parseTree(ctx, raw)
		if err != nil {
			return false, err
		}
		defer record.giveBack()
		nodes, err := record.find(ctx, d.flag)
		if err != nil || len(nodes) == 0 {
			return false, err
		}
		found = record.text(nodes[0])
	}
	if found == nil {
		return false, nil
	}
	v := valueOf(found)
	return d.test.matches(&value{kind: v.Kind, raw: v.Raw}), nil
}

// deletes is how a reshaper marks deletions.
type deletes struct {
	*deletion
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
func newDeletes(d *deletion, feed feedmill.Feed, drop bool) *deletes {
	out := &deletes{deletion: d, drop: drop, only: map[string]bool{deletedMark: true}}
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
	return &feedmill.PageDeletes{Column: deletedMark, Listed: func() int64 { return d.listed }, Count: func() int64 { return d.count }}
}

// deletion makes a row that marks a deletion of a record.
func (r *reshaper) deletion(ctx context.Context, key string, raw []byte, names []string, with []feedmill.PageColumn) ([]byte, error) {
	r.row.only = r.deletes.only
	defer func() { r.row.only = nil }()
	line, err := r.line(ctx, key, raw, names, with)
	if err != nil {
		return nil, err
	}
	members, err := membersOf(line)
	for _, name := range r.deletes.keys {
		if v := lookup(members, name); err == nil && (v == nil || valueOf(v).Kind == 'n') {
			err = fmt.Errorf("a deleted record has no value for the key column %q", name)
		}
	}
	r.deletes.count++
	return line, err
}

// listed writes a row for each deletion that the page lists.
func (r *reshaper) listed(ctx context.Context, p feedmill.FetchedPage, names []string, write func(line []byte) error) error {
	d := r.deletes
	if d == nil || d.path == nil || d.drop {
		return nil
	}
	// What is listed is not a record: the cursor and the counts are about records.
	see, seen := r.see, r.seen
	r.see = nil
	defer func() { r.see, r.seen = see, seen }()
	d.listed = 0
	return eachRecord(ctx, p, d.path.String(), r.spool, func(raw []byte) (err error) {
		d.listed++
		var line []byte
		if raw[0] == '{' || raw[0] == '[' {
			line, err = r.deletion(ctx, "", raw, names, p.With)
		} else {
			line, err = r.deletedKey(raw, p.With)
		}
		if err != nil {
			return fail("deleted", nil, "Element %d of %s on page %d: %s.", d.listed, d.path, p.Number, err)
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
	if len(own) != 1 || valueOf(raw).Kind == 'n' {
		return nil, fmt.Errorf("%s is not a value for the key (%s)", shorten(string(raw)), strings.Join(d.keys, ", "))
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

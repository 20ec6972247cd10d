package spec

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Deletion is how a source reports the rows that it has deleted: in a list of its own, or by
// a flag in the record. One of path and flag is set.
type Deletion struct {
	Path *jsonpath.Path
	Flag *jsonpath.Path
	// Own is the member of the record that the flag is, empty for a longer path.
	Own  string
	Test Test
}

// DeletedMark is the column of a row that marks a deletion. No version has it.
const DeletedMark = "_feedmill_deleted"

// readDeleted reads how the source reports deleted rows; nil where it does not.
func (o *object) readDeleted() *Deletion {
	in := o.object("deleted")
	if in == nil {
		return nil
	}
	d := &Deletion{Test: Test{kind: testEquals, than: strictjson.Value{Kind: 't', Raw: []byte("true")}}}
	in.Know("equals")
	switch {
	case in.Has("path") == in.Has("flag"):
		in.Know("path")
		in.Know("flag")
		o.unreadable("deleted", "deleted needs either path, where the response lists deleted records, or flag, the member of a record that marks it as deleted.")
	case in.Has("path"):
		d.Path = in.path("path", true)
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
func (d *Deletion) readFlag(in *object) {
	text := in.needText("flag")
	if text != "" && text[0] != '$' {
		name := strictjson.String(text)
		text = "$[" + string(name.Raw) + "]"
	}
	var err error
	if d.Flag, err = jsonpath.Parse(text); err != nil && text != "" {
		in.unreadable("flag", "flag is not a valid JSONPath or member name: "+err.Error()+".")
	}
	if d.Flag != nil {
		if steps, ok := d.Flag.Steps(); ok && len(steps) == 1 {
			d.Own, _ = steps[0].Name()
		}
	}
	v := in.Value.Member("equals")
	switch {
	case v == nil:
	case v.Kind == '{' || v.Kind == '[':
		in.unreadable("equals", "equals must be a text, a number, true, false or null.")
	default:
		d.Test.than = *v
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
	if d.Spec == nil || d.Spec.FullEvery == 0 {
		return
	}
	inc := d.Spec.Incremental
	switch {
	case inc == nil:
		r.fault("/fullEvery", "fullEvery needs incremental; without it every fetch is full. Use mode replace to remove rows that no longer appear.")
	case !merges:
		r.fault("/fullEvery", "A full fetch removes rows by their key, in mode merge. Set mode to merge and key to the columns that identify a row.")
	case !inc.Start.plain():
		r.fault("/incremental/start", "With fullEvery, start must be fixed. A full fetch would delete all rows from before "+inc.Start.Text+".")
	}
}

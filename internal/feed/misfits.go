package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/model"
)

// misfits gathers the values that do not fit the types that somebody has set, and
// keeps the rows that are rejected for them.
type misfits struct {
	blobs Blobs
	// name is that of the file with the rejected rows.
	name  string
	names []string // of the columns of the row at hand
	// pageOf is the page of a record; nil where the data does not come in pages.
	pageOf   func(record int64) int
	columns  []*misfitColumn
	rejected int64
	draft    Draft
	fault    error
	// survey counts the misfits of a trial, which keeps none of them.
	survey *survey
}

// misfitColumn is what was found of one column with one policy.
type misfitColumn struct {
	name     string
	as       columnar.Type
	policy   feedmill.MisfitPolicy
	count    int64
	examples []feedmill.Example
}

const misfitExamples = 5

// reject is a row that was rejected, as it is kept.
type reject struct {
	Record int64                      `json:"record"`
	Page   *int                       `json:"page"`
	Column string                     `json:"column"`
	Value  string                     `json:"value"`
	Reason string                     `json:"reason"`
	Raw    map[string]json.RawMessage `json:"raw"`
}

// add takes in a misfit.
func (f *misfits) add(m *model.Misfit) {
	if f.survey != nil {
		f.survey.add(m)
		return
	}
	at := slices.IndexFunc(f.columns, func(c *misfitColumn) bool { return c.name == m.Column && c.policy == m.Policy })
	if at < 0 {
		at = len(f.columns)
		f.columns = append(f.columns, &misfitColumn{name: m.Column, as: m.Type, policy: m.Policy})
	}
	c := f.columns[at]
	if c.count++; len(c.examples) < misfitExamples {
		c.examples = append(c.examples, feedmill.Example{Row: m.Row, Value: m.Sample})
	}
	if m.Policy == feedmill.MisfitsReject {
		f.reject(m)
	}
}

func (f *misfits) reject(m *model.Misfit) {
	f.rejected++
	if f.draft == nil && f.fault == nil {
		f.draft, f.fault = f.blobs.Begin(f.name)
	}
	if f.fault != nil {
		return
	}
	r := reject{Record: m.Row, Column: m.Column, Value: m.Sample, Reason: fmt.Sprintf("%q is not a value of the type %s", m.Sample, m.Type), Raw: make(map[string]json.RawMessage)}
	if f.pageOf != nil {
		r.Page = new(f.pageOf(m.Row))
	}
	for i, name := range f.names {
		if i < len(m.Record) {
			r.Raw[name] = m.Record[i]
		}
	}
	lines := json.NewEncoder(f.draft)
	lines.SetEscapeHTML(false) // the values are to be read as the source wrote them
	f.fault = lines.Encode(r)
}

// watch is a table with some columns that ends with an error where there were misfits that nobody
// has said what becomes of.
func (f *misfits) watch(table feedmill.TypedTable, columns []feedmill.Column) feedmill.TypedTable {
	f.names = nil
	for _, c := range columns {
		f.names = append(f.names, c.Name)
	}
	runs := table.Runs
	table.Runs = func(yield func([]columnar.Vector, error) bool) {
		for run, err := range runs {
			if !yield(run, err) || err != nil {
				return
			}
		}
		if err := f.refusal(); err != nil {
			yield(nil, err)
		}
	}
	return table
}

func (f *misfits) refusal() error {
	if f.fault != nil {
		return fmt.Errorf("keep rejected rows: %w", f.fault)
	}
	var texts []string
	var columns []string
	for _, c := range f.columns {
		if c.policy == feedmill.MisfitsFail {
			columns = append(columns, c.name)
			texts = append(texts, c.String())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return &misfitError{columns, &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "misfit",
		Detail: strings.Join(texts, "; ") + `. Fix the values, set another type, or set onMisfit to "null" (they become null) or "reject" (their rows are left out).`,
	}}
}

// misfitError is a refusal for values of some columns.
type misfitError struct {
	columns []string
	refusal *feedmill.Error
}

func (e *misfitError) Error() string { return e.refusal.Error() }

func (e *misfitError) Unwrap() error { return e.refusal }

func (c *misfitColumn) String() string {
	var examples []string
	for _, e := range c.examples {
		examples = append(examples, fmt.Sprintf("row %d: %q", e.Row, e.Value))
	}
	values := "1 value is"
	if c.count != 1 {
		values = fmt.Sprintf("%d values are", c.count)
	}
	return fmt.Sprintf("column %q: %s not of the type %s that was set (%s)", c.name, values, c.as, strings.Join(examples, ", "))
}

// warnings say what was left out.
func (f *misfits) warnings() (all []feedmill.Warning) {
	for _, c := range f.columns {
		w := feedmill.Warning{
			Code: feedmill.WarnNulled, Column: c.name, Count: c.count, FirstRow: c.examples[0].Row, Examples: c.examples,
			Detail: fmt.Sprintf("Values that are not of the type %s that was set were imported as null. Fix them at the source, or set another type.", c.as),
		}
		if c.policy == feedmill.MisfitsReject {
			w.Code, w.Detail = feedmill.WarnRejected, fmt.Sprintf("Rows with values that are not of the type %s that was set were left out. The rejects of the refresh list them. Fix them at the source, or set another type.", c.as)
		}
		all = append(all, w)
	}
	return all
}

// keep keeps the rejected rows, and notes them in a refresh.
func (f *misfits) keep(ctx context.Context, r *feedmill.Refresh) error {
	if f.draft != nil {
		if err := f.draft.Keep(ctx); err != nil {
			return fmt.Errorf("keep rejected rows: %w", err)
		}
		r.Rejects = f.name
	}
	r.RowsRejected = f.rejected
	return nil
}

// close gives up what was not kept.
func (f *misfits) close() {
	if f.draft != nil {
		f.draft.Close()
	}
}

package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/share"
)

// FetchedTables are tables of what a source has, for one query each.
type FetchedTables struct {
	Mill   *Mill
	Source Source
}

// SelectFetched fetches what a definition of the source asks for into a table that
// is gone afterwards, and runs a tree over it. The tree was resolved over the
// columns, which the table has and no others, in their types: a value that is none of
// its column's is left out, which a warning says. Give is handed the columns of the
// result once, with the digits that decimals turned out to have, and then its rows.
// Where most is positive no more records are fetched once there are so many.
func (f FetchedTables) SelectFetched(ctx context.Context, job feedmill.Fetch, definition []byte, columns []feedmill.Column, t *query.Tree, most int64, give func([]feedmill.Column, []columnar.Vector) error) (warnings []feedmill.Warning, err error) {
	def, err := f.Source.DefineStored(definition)
	if err != nil {
		return nil, unusable(err)
	}
	m := f.Mill
	feed := newFetched(def, feedmill.FeedPatch{}, now())
	table := &fetchedTable{loading: &loading{before: feed, file: string(feed.ID) + "/fetched.parquet"}}
	defer m.remove(table.file)
	run := &fetching{mill: m, slots: m.slotsFor(job), tables: []*fetchedTable{table}, also: job.Trace}
	defer func() { err = errors.Join(err, run.close()) }()
	job.Spec, job.Secrets, job.Rules, job.Feeds, job.Stage = def.Source.Spec, def.Source.Secrets, def.Source.Rules, nil, ""
	_, err = run.fetch(ctx, f.Source, job, someRows{run, most})
	cut := errors.Is(err, errEnough)
	if err != nil && !cut {
		return nil, err
	}
	v, warnings, err := m.tabulate(ctx, run, table, columns)
	if err != nil {
		return nil, err
	}
	if cut && (len(t.Where) > 0 || len(t.Sort) > 0 || t.Grouped()) {
		warnings = append(warnings, feedmill.Warning{Code: feedmill.WarnPart, Count: table.rows(), Detail: fmt.Sprintf("Only the first %d records were used; the source has more.", table.rows())})
	}
	t = t.Over(v.Columns)
	if err := give(t.Columns(), nil); err != nil {
		return nil, err
	}
	for rows, err := range m.Reader.Select(ctx, []*lake.Version{&v}, t) {
		if err == nil {
			err = give(nil, rows)
		}
		if err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

// slotsFor are the places in which the pages of a fetch are modelled: somebody waits
// for a preview.
func (m *Mill) slotsFor(job feedmill.Fetch) *share.Slots {
	if job.Enough > 0 {
		return m.previews
	}
	return m.modelling
}

// tabulate makes a table of what was fetched, with some columns.
func (m *Mill) tabulate(ctx context.Context, f *fetching, t *fetchedTable, columns []feedmill.Column) (v lake.Version, warnings []feedmill.Warning, err error) {
	if t.failed != nil {
		return v, nil, t.failed
	}
	if t.typed != nil {
		return v, nil, &feedmill.SourceFailure{Type: "unsupported-format", Title: "The response cannot be read", Detail: "The response is in a format with column types, such as Parquet. Services require a format without types, such as JSON or CSV."}
	}
	schema, found, err := t.inference.Schema(t.pages)
	if err != nil {
		return v, nil, err
	}
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Fixed, columns[i].OnMisfit = true, feedmill.MisfitsNull
	}
	schema.Fit(columns, 0) // that a field is nowhere to be found is usual
	schema.Columns = schema.Columns[:len(columns):len(columns)]
	for _, w := range found {
		if w.Column == "" {
			warnings = append(warnings, w)
		}
	}
	misfits := m.newMisfits(t.loading)
	defer misfits.close()
	err = m.takeTurn(ctx, f.slots, func(ctx context.Context) error {
		if _, err := schema.Retype(ctx, t.pages); err != nil {
			return err
		}
		v, err = lake.Write(ctx, m.Blobs, t.file, misfits.watch(schema.Load(ctx, t.pages, model.Loading{Misfit: misfits.add}), schema.Columns))
		return err
	})
	return v, append(warnings, misfits.warnings()...), err
}

// someRows takes as many records of a fetch as are wanted.
type someRows struct {
	*fetching
	most int64
}

func (r someRows) Page(ctx context.Context, page feedmill.FetchedPage) ([]int64, error) {
	rows, err := r.fetching.Page(ctx, page)
	if err == nil && r.most > 0 && r.tables[0].rows() >= r.most {
		err = errEnough
	}
	return rows, err
}

// unusable is the failure of a definition that nobody wrote, but that was put
// together.
func unusable(err error) error {
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok {
		return err
	}
	detail := refusal.Detail
	for _, f := range refusal.Faults {
		detail += " " + f.Pointer + ": " + f.Detail
	}
	return &feedmill.SourceFailure{Type: "unusable-service", Title: "The service cannot be used", Detail: "The service and its connection do not produce a valid request. " + detail}
}

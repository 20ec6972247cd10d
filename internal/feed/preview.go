package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/model"
)

// previewRows is how many rows a preview shows.
const previewRows = 100

// Preview says what would become of an upload. All of the data is modelled, and
// its first rows go the way that all rows would.
func (m *Mill) Preview(ctx context.Context, u feedmill.Upload) (p feedmill.FeedPreview, err error) {
	u.Rules = u.Rules.Or(feedmill.RulesCurrent)
	l := newLoading(ctx, feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed)}, u)
	data, err := m.receive(ctx, l.version.Original, u, false)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer data.Close()
	defer m.drop(l, nil)
	err = m.Room.Disk.During(ctx, func(ctx context.Context) error {
		return m.takeTurn(ctx, m.previews, func(ctx context.Context) error {
			p, err = m.showUpload(ctx, l, data)
			return err
		})
	})
	p.Spec, p.Complete = uploadSpec(u), true
	return p, err
}

// showUpload is a preview of data that was received, whichever door it comes by.
func (m *Mill) showUpload(ctx context.Context, l *loading, data *incoming) (feedmill.FeedPreview, error) {
	if decode.IsTyped(data.reading.Format) {
		return m.showTypedUpload(ctx, l, data)
	}
	found, err := m.infer(ctx, data)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer found.Close()
	return m.show(ctx, l, found.schema, found.warnings, found)
}

// show is a preview with the first rows of cells whose types are known. Where somebody has
// set types, all rows are held against them.
func (m *Mill) show(ctx context.Context, l *loading, schema *model.Schema, warnings []feedmill.Warning, table model.Table) (feedmill.FeedPreview, error) {
	found := m.newMisfits(l)
	defer found.close()
	warnings, err := fitSchema(ctx, l, schema, warnings, table)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	typed := schema.Load(ctx, table, model.Loading{})
	if slices.ContainsFunc(schema.Columns, func(c feedmill.Column) bool { return c.Fixed }) {
		typed = found.watch(schema.Load(ctx, table, model.Loading{Misfit: found.add}), schema.Columns)
		typed.Runs = (&firstOfAll{runs: typed.Runs}).each
	} else {
		typed.Runs = firstRuns(typed.Runs)
	}
	v, err := lake.Write(ctx, m.Blobs, l.file, typed)
	if err != nil {
		return feedmill.FeedPreview{}, l.blame(err)
	}
	l.shown = &v
	p, err := m.showVersion(ctx, v, schema.Rows-found.rejected, append(warnings, found.warnings()...))
	p.Found = schema.Found
	return p, err
}

// showVersion is a preview of data with so many rows, of which a version has the
// first.
func (m *Mill) showVersion(ctx context.Context, v lake.Version, rows int64, warnings []feedmill.Warning) (feedmill.FeedPreview, error) {
	var shown shownRows
	if _, err := m.Reader.Read(ctx, &v, feedmill.Query{Limit: previewRows}, wire.FormatNDJSON, nil, &shown); err != nil && !errors.Is(err, errEnough) {
		return feedmill.FeedPreview{}, err
	}
	array, n := shown.array()
	if shown.cut {
		warnings = append(warnings, shown.warning(n, rows))
	}
	return feedmill.FeedPreview{Columns: v.Columns, RowCount: rows, Warnings: warnings, Rows: array}, nil
}

// PreviewFetched fetches as many pages as a preview shows rows of, and says what
// would become of them.
func (m *Fetcher) PreviewFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed) (p feedmill.FeedPreview, err error) {
	err = m.Room.Disk.During(ctx, func(ctx context.Context) error {
		p, err = m.previewFetched(ctx, workspace, n)
		return err
	})
	return p, err
}

func (m *Fetcher) previewFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed) (p feedmill.FeedPreview, err error) {
	source, err := m.source(n.Type)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	feed, def, err := m.previewed(ctx, workspace, source, n)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	table := &fetchedTable{loading: &loading{before: feed, file: fmt.Sprintf("%s/%s-preview.parquet", feed.ID, feedmill.NewID(feedmill.PrefixPreview)), defined: feedmill.DefinedColumns(def.Spec)}}
	defer func() { m.remove(table.file) }()
	f := &fetching{mill: m.Mill, slots: m.previews, tables: []*fetchedTable{table}}
	defer func() { err = errors.Join(err, f.close()) }()
	var fetched feedmill.Fetched
	err = m.takeTurn(ctx, m.fetches, func(ctx context.Context) error {
		fetched, err = f.fetch(ctx, source, feedmill.Fetch{
			Source: feedmill.NewID(feedmill.PrefixDataSource), Workspace: workspace,
			Spec: def.Source.Spec, Secrets: def.Source.Secrets, Rules: def.Source.Rules, Enough: previewRows,
		}, firstRows{f})
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return feedmill.FeedPreview{}, previewFailure(err, f.trace.list())
	}
	complete := err == nil
	table.warn(fetched.Warnings)
	p, err = m.showFetched(ctx, table)
	if p.Complete = complete; err == nil && feed.Version > 0 {
		p.Compare, err = m.comparePreview(ctx, table.loading, p)
	}
	p.Trace, p.Spec, p.Plan = f.trace.list(), def.Spec, fetched.Plan
	return p, err
}

// previewed is the feed that a preview is of, with its definition: a new one, or one that
// there is with the changes of the body and with its secrets.
func (m *Fetcher) previewed(ctx context.Context, workspace feedmill.ID, source Source, n feedmill.FetchedFeed) (feedmill.Feed, feedmill.FeedDefinition, error) {
	if n.Compare == "" {
		def, err := source.Define(n.Body)
		def, err = check(ctx, source, workspace, def, err)
		return newFetched(def, feedmill.FeedPatch{}, now()), def, feedmill.WithFaults(n.Refused, err)
	}
	feed, err := m.Sourcing.Feed(ctx, workspace, n.Compare)
	if err != nil {
		return feedmill.Feed{}, feedmill.FeedDefinition{}, err
	}
	if feed.Type != n.Type {
		var faults feedmill.Faults
		faults.Add(feedmill.Fault{Parameter: "compare", Detail: fmt.Sprintf("The feed has the type %s, and type is %s.", feed.Type, n.Type)})
		return feedmill.Feed{}, feedmill.FeedDefinition{}, faults.Refusal()
	}
	stored, err := m.Sourcing.Source(ctx, workspace, feed.Source)
	if err != nil {
		return feedmill.Feed{}, feedmill.FeedDefinition{}, err
	}
	secrets, err := m.secrets(ctx, stored)
	if err != nil {
		return feedmill.Feed{}, feedmill.FeedDefinition{}, err
	}
	def, _, err := source.Redefine(feed, secrets, n.Body)
	def, err = check(ctx, source, workspace, def, err)
	feed.Spec, feed.Mode, feed.Key, feed.Rules = def.Spec, def.Mode, def.Key, def.Rules
	return feed, def, feedmill.WithFaults(n.Refused, err)
}

// comparePreview compares a preview with the current version of its feed. Rows are counted
// where all of them were read and shown.
func (m *Mill) comparePreview(ctx context.Context, l *loading, p feedmill.FeedPreview) (*feedmill.FeedComparison, error) {
	c := &feedmill.FeedComparison{Version: l.before.Version}
	for _, column := range p.Columns {
		at := slices.IndexFunc(l.before.Columns, func(had feedmill.Column) bool { return had.ID == column.ID })
		switch {
		case at < 0:
			c.Columns.Added = append(c.Columns.Added, column.Name)
		case l.before.Columns[at].Type != column.Type:
			c.Columns.Widened = append(c.Columns.Widened, column.Name)
		}
	}
	for _, w := range p.Warnings {
		if w.Code == feedmill.WarnMissing {
			c.Columns.Removed = append(c.Columns.Removed, w.Column)
		}
	}
	v := l.shown
	if !p.Complete || v == nil || v.Rows != p.RowCount {
		return c, nil
	}
	before, err := m.Versions.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version)
	if err != nil {
		return nil, err
	}
	old := lakeVersion(before)
	key := columnIDs(old.Columns, keyColumns(l.before.Key, old.Columns))
	if len(key) == 0 {
		return c, nil
	}
	for _, side := range []*lake.Version{old, v} {
		if unique, err := m.Reader.Unique(ctx, side, key); err != nil || !unique {
			return c, err
		}
	}
	changes, err := m.Reader.CountChanges(ctx, lake.Comparison{Old: old, New: v, Key: key})
	if err != nil {
		return nil, err
	}
	if l.before.Mode != feedmill.ModeReplace {
		changes.Deleted = 0 // rows that were not fetched stay
	}
	c.Rows = &changes
	return c, nil
}

// showFetched is a preview of what was fetched, whichever way it came.
func (m *Mill) showFetched(ctx context.Context, t *fetchedTable) (p feedmill.FeedPreview, err error) {
	if t.typed != nil {
		v, err := t.typed.end()
		if err != nil {
			return feedmill.FeedPreview{}, err
		}
		return m.showTyped(ctx, t.loading, v, t.typed.warnings)
	}
	schema, warnings, err := t.inference.Schema(t.pages)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	err = m.takeTurn(ctx, m.previews, func(ctx context.Context) error {
		p, err = m.show(ctx, t.loading, schema, warnings, t.pages)
		return err
	})
	return p, err
}

// errEnough ends a fetch for a preview.
var errEnough = errors.New("there are enough rows for a preview")

// firstRows takes as much of a fetch as a preview needs.
type firstRows struct{ *fetching }

func (r firstRows) Page(ctx context.Context, page feedmill.FetchedPage) ([]int64, error) {
	rows, err := r.fetching.Page(ctx, page)
	return rows, r.enough(err)
}

func (r firstRows) Rows(ctx context.Context, run []columnar.Vector) error {
	return r.enough(r.fetching.Rows(ctx, run))
}

func (r firstRows) enough(err error) error {
	if err == nil && r.tables[0].rows() >= previewRows {
		return errEnough
	}
	return err
}

// previewFailure is why nothing could be fetched for a preview, as a refusal.
func previewFailure(err error, trace []feedmill.TracedRequest) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok {
		return err
	}
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: failure.Type, Title: failure.Title, Detail: failure.Detail, Said: failure.Said, Trace: trace}
}

// firstRuns ends once there are as many rows as a preview shows.
func firstRuns(runs iter.Seq2[[]columnar.Vector, error]) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		rows := 0
		for run, err := range runs {
			if !yield(run, err) || err != nil {
				return
			}
			if len(run) > 0 {
				rows += run[0].Len
			}
			if rows >= previewRows {
				return
			}
		}
	}
}

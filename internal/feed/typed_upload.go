package feed

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
)

// writeTypedUpload makes a version of data whose columns have types already. If it fails,
// nothing is left.
func (m *Mill) writeTypedUpload(ctx context.Context, l *loading, data decode.Source, r feedmill.Reading) error {
	table, err := decode.OpenTyped(ctx, r.Format, data)
	if err != nil {
		return err
	}
	defer table.Close()
	if err := checkNames(r.Rules, table.Columns()); err != nil {
		return err
	}
	columns, warnings := nameTyped(l, table.Columns())
	fresh, err := lake.Write(ctx, m.Blobs, l.file, feedmill.TypedTable{Columns: columns, Runs: table.Runs(ctx)})
	if err != nil {
		return err
	}
	warnings = slices.Concat(warnings, table.Warnings(columns), noRows(fresh.Rows))
	if r.Text {
		columns = asText(columns)
	}
	return m.completeTyped(ctx, l, fresh, columns, warnings)
}

// showTypedUpload is a preview of data whose columns have types already. All of it is read,
// so that what is wrong with it is known.
func (m *Mill) showTypedUpload(ctx context.Context, l *loading, data *incoming) (feedmill.FeedPreview, error) {
	table, err := decode.OpenTyped(ctx, data.reading.Format, data)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer table.Close()
	if err := checkNames(data.reading.Rules, table.Columns()); err != nil {
		return feedmill.FeedPreview{}, err
	}
	columns, warnings := nameTyped(l, table.Columns())
	first := &firstOfAll{runs: table.Runs(ctx)}
	v, err := lake.Write(ctx, m.Blobs, l.file, feedmill.TypedTable{Columns: columns, Runs: first.each})
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	if data.reading.Text {
		text := &loading{file: l.file}
		combined, err := m.combine(ctx, text, v, asText(columns), nil)
		defer m.dropWritten(text)
		if err != nil {
			return feedmill.FeedPreview{}, err
		}
		v = combined.Version
	}
	p, err := m.showTyped(ctx, l, v, slices.Concat(warnings, table.Warnings(columns), noRows(first.rows)))
	p.RowCount = first.rows
	return p, err
}

// showTyped is a preview of rows that have types already, in the columns that they have in a
// feed.
func (m *Mill) showTyped(ctx context.Context, l *loading, v lake.Version, warnings []feedmill.Warning) (feedmill.FeedPreview, error) {
	found := m.newMisfits(l)
	defer found.close()
	columns, changes, err := fitTyped(l, v.Columns, v.Rows)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	// A change of a feed can lack some of its columns, which no file of the preview has.
	columns = slices.DeleteFunc(columns, func(c feedmill.Column) bool {
		return !slices.ContainsFunc(v.Columns, func(has feedmill.Column) bool { return has.ID == c.ID })
	})
	if mustConvert(v.Columns, columns) {
		if v, columns, err = m.convertFresh(ctx, l, v, columns, found); err != nil {
			return feedmill.FeedPreview{}, l.blame(err)
		}
	}
	v.Columns, l.shown = columns, &v
	return m.showVersion(ctx, v, v.Rows, slices.Concat(relabelled(warnings, columns), changes, found.warnings()))
}

// firstOfAll yields as many rows as a preview shows, and reads the others too.
type firstOfAll struct {
	runs iter.Seq2[[]columnar.Vector, error]
	rows int64
}

func (f *firstOfAll) each(yield func([]columnar.Vector, error) bool) {
	for run, err := range f.runs {
		if (err != nil || f.rows < previewRows) && !yield(run, err) {
			return
		}
		if len(run) > 0 {
			f.rows += int64(run[0].Len)
		}
	}
}

// asText is columns with the type text.
func asText(columns []feedmill.Column) []feedmill.Column {
	text := slices.Clone(columns)
	for i := range text {
		text[i].Type, text[i].Precision, text[i].Scale = columnar.TypeText, 0, 0
	}
	return text
}

// noRows warns of a table that has none.
func noRows(rows int64) []feedmill.Warning {
	if rows > 0 {
		return nil
	}
	return []feedmill.Warning{{Code: feedmill.WarnNoRows, Count: 1, Detail: "The data has columns but no rows."}}
}

// addTypedPage adds a page whose columns have types already. All pages of a table must have
// the same.
func (f *fetching) addTypedPage(ctx context.Context, t *fetchedTable, format string, p feedmill.FetchedPage) (int64, error) {
	switch {
	case t.pages != nil && t.pages.Rows() > 0:
		return 0, refusePage(p, "mixed-formats", "the page is %s, but the previous pages have no column types", format)
	case t.watched:
		return 0, refusePage(p, "unsupported-format", "the page is %s, which does not support incremental; remove incremental, or request JSON or CSV from the source", format)
	case t.text:
		return 0, refusePage(p, "unsupported-format", "the page is %s, which defines its own types; remove types", format)
	}
	table, err := decode.OpenTyped(ctx, format, p.Body)
	if err != nil {
		return 0, err
	}
	defer table.Close()
	columns := table.Columns()
	if t.typed == nil {
		// The page is of a part of the fetch, and what is written outlives that.
		t.typed = f.mill.beginTyped(context.WithoutCancel(ctx), t.loading, columns)
		t.named = t.typed.warnings
	} else if !slices.EqualFunc(t.typed.columns, columns, sameColumn) {
		return 0, refusePage(p, "mixed-columns", "its columns differ from those of the previous pages")
	}
	before := t.typed.rows
	for run, err := range table.Runs(ctx) {
		if err == nil {
			err = t.typed.add(run)
		}
		if err != nil {
			return 0, err
		}
	}
	t.joined.Add(p.Number, table.Warnings(t.typed.columns))
	t.typed.warnings = slices.Concat(t.named, t.joined.List(p.Number > 1))
	return t.typed.rows - before, nil
}

func sameColumn(a, b feedmill.Column) bool {
	return a.SourceName == b.SourceName && a.Type == b.Type && a.Precision == b.Precision && a.Scale == b.Scale
}

// refusePage says what is wrong with a page.
func refusePage(p feedmill.FetchedPage, problem, format string, args ...any) error {
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: problem, Detail: fmt.Sprintf("page %d: ", p.Number) + fmt.Sprintf(format, args...)}
}

// checkNames refuses columns whose names are too long. Feeds of earlier releases may have
// such names.
func checkNames(rules feedmill.Rules, columns []feedmill.Column) error {
	if rules < feedmill.RulesCurrent {
		return nil
	}
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return feedmill.CheckSourceNames("column", names)
}

package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/model"
)

const (
	// surveyValues and surveyBytes bound the different values that a survey keeps of all
	// columns together. It counts every misfit, but not the values after that.
	surveyValues = 10_000
	surveyBytes  = 1 << 20
)

// survey counts the values that do not fit the types of a trial.
type survey struct {
	columns map[string]*surveyed // by name
	values  int
	bytes   int
}

type surveyed struct {
	misfits int64
	partial bool
	values  map[string]*feedmill.MisfitExample
}

// add counts a misfit. Columns that the trial does not retype are ignored.
func (s *survey) add(m *model.Misfit) {
	c := s.columns[m.Column]
	if c == nil {
		return
	}
	c.misfits++
	e := c.values[m.Sample]
	if e == nil {
		if s.values >= surveyValues || s.bytes+len(m.Sample) > surveyBytes {
			c.partial = true
			return
		}
		s.values++
		s.bytes += len(m.Sample)
		e = &feedmill.MisfitExample{Value: m.Sample, FirstRow: m.Row}
		c.values[m.Sample] = e
	}
	e.Rows++
	e.FirstRow = min(e.FirstRow, m.Row)
}

// examples are the most frequent values of a column.
func (c *surveyed) examples() []feedmill.MisfitExample {
	all := make([]feedmill.MisfitExample, 0, len(c.values))
	for _, e := range c.values {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b feedmill.MisfitExample) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.FirstRow, b.FirstRow))
	})
	return slices.Clip(all[:min(misfitExamples, len(all))])
}

// TryColumns checks changes to columns against every stored value and keeps nothing. It
// returns the feed with its new labels, and a trial for each change.
func (f *Feeds) TryColumns(ctx context.Context, workspace, id feedmill.ID, changes []feedmill.ColumnChange) (feedmill.Feed, []feedmill.ColumnTrial, error) {
	before, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, nil, err
	}
	if before.Version == 0 {
		return feedmill.Feed{}, nil, errNoColumns
	}
	wanted := before
	if err := wanted.Relabel(changes); err != nil {
		return feedmill.Feed{}, nil, err
	}
	s := &survey{columns: make(map[string]*surveyed)}
	tried := slices.Clone(changes)
	names := make([]string, len(changes))
	for i := range tried {
		at := slices.IndexFunc(before.Columns, func(c feedmill.Column) bool { return c.ID == tried[i].ID })
		names[i] = wanted.Columns[at].Name
		if tried[i].Type == nil {
			tried[i].OnMisfit = nil
			continue
		}
		tried[i].OnMisfit = new(feedmill.MisfitsNull) // every misfit is counted, and none ends the reading
		s.columns[names[i]] = &surveyed{values: make(map[string]*feedmill.MisfitExample)}
	}
	if len(s.columns) > 0 {
		err := f.Room.Disk.During(ctx, func(ctx context.Context) error {
			return f.takeTurn(ctx, f.modelling, func(ctx context.Context) error { return f.survey(ctx, before, tried, s) })
		})
		if err != nil {
			return feedmill.Feed{}, nil, fmt.Errorf("try columns: %w", err)
		}
	}
	trials := make([]feedmill.ColumnTrial, len(changes))
	for i, c := range changes {
		t := feedmill.ColumnTrial{ID: c.ID, DistinctExact: true}
		if found := s.columns[names[i]]; found != nil {
			t.Misfits, t.Distinct, t.DistinctExact, t.Examples = found.misfits, int64(len(found.values)), !found.partial, found.examples()
		}
		trials[i] = t
	}
	return wanted, trials, nil
}

// survey converts the rows of a feed as its next version would have them. An upload is read
// again as [Feeds.ChangeColumns] does, because its original can have what the version lacks.
func (m *Mill) survey(ctx context.Context, before feedmill.Feed, changes []feedmill.ColumnChange, s *survey) error {
	l := newLoading(ctx, before, feedmill.Upload{Columns: changes, Mode: feedmill.ModeReplace, Accept: true})
	l.survey, l.shared = s, true
	if !before.Type.HasSource() {
		if err := m.Room.Disk.Check(); err != nil {
			return err
		}
		l.reading = readingOf(before)
		return m.drop(l, m.remodel(ctx, l))
	}
	v, err := m.Versions.FeedVersion(ctx, before.Workspace, before.ID, before.Version)
	if err != nil {
		return err
	}
	columns, _, err := fitTyped(l, before.Columns, v.Rows)
	if err != nil {
		return err
	}
	options, err := modelOptions(remembering(l.reading, before))
	if err != nil {
		return err
	}
	table := stored{reader: m.Reader, version: lakeVersion(v)}
	schema, _, err := recast(ctx, table, columns, options)
	if err != nil {
		return err
	}
	for _, err := range schema.Load(ctx, table, model.Loading{Misfit: s.add}).Runs {
		if err != nil {
			return err
		}
	}
	return nil
}

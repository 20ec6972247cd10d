package fetch

import (
	"context"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
)

// handPage gives the sink a page, and returns how many records it has.
func (s *sequence) handPage(ctx context.Context, page feedmill.FetchedPage, staged stagedPage) (int64, error) {
	rows, err := s.sink.Page(ctx, page)
	s.rows.add(rows)
	if s.stage != nil {
		s.staged = append(s.staged, staged)
	}
	return most(rows), err
}

// handFiles gives the sink the other files of an archive.
func (s *sequence) handFiles(ctx context.Context, a *answer) (records int64, err error) {
	for _, f := range a.more {
		part := *a
		s.use(&part, f)
		s.result.Pages++
		s.result.Bytes += f.size
		format, err := formatOf(s.job.Format, part.header, part.body)
		if err != nil {
			return records, err
		}
		n, err := s.handPage(ctx, feedmill.FetchedPage{Number: int(s.result.Pages), First: a.step.number == 1, Format: format, Body: part.body, With: s.with(s.unit.parent, f.name)},
			stagedPage{Lane: s.lane.number, At: f.start, Size: f.size, Sum: f.sum, Format: format, First: a.step.number == 1, File: f.name})
		if records += n; err != nil {
			return records, err
		}
	}
	return records, nil
}

// with are the columns that all records of a page get: those of the parent, and the name of the
// file of an archive.
func (r *run) with(p *parent, file string) (columns []feedmill.PageColumn) {
	if p != nil {
		columns = p.with
	}
	if file != "" && r.job.FileColumn != "" {
		columns = append(slices.Clone(columns), feedmill.PageColumn{Name: r.job.FileColumn, JSON: find.Quote(file)})
	}
	return columns
}

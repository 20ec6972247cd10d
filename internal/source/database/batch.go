package database

import (
	"context"
	"errors"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// Batch gathers rows, a builder for each column.
type Batch struct{ Columns []*Builder }

// NewBatch makes a batch of the rows that a plan fetches, with their columns.
func NewBatch(p *query.Plan, columns []feedmill.Column) *Batch {
	b := &Batch{Columns: make([]*Builder, len(columns))}
	for i := range columns {
		b.Columns[i] = NewBuilder(columns[i])
		b.Columns[i].silent = !p.Tree.Infinite && p.Fetched[i].CanOverflow()
	}
	return b
}

// Hand is called after each row. It hands on the rows once they are enough.
func (b *Batch) Hand(ctx context.Context, to *Finish) error {
	for _, c := range b.Columns {
		if c.Full() {
			return to.Rows(ctx, b.drain())
		}
	}
	return nil
}

// End hands on the rest.
func (b *Batch) End(ctx context.Context, to *Finish) error {
	if err := to.Rows(ctx, b.drain()); err != nil && !errors.Is(err, ErrEnough) {
		return err
	}
	return nil
}

// drain returns the rows that the batch holds, and empties it.
func (b *Batch) drain() []columnar.Vector {
	run := make([]columnar.Vector, len(b.Columns))
	for i, c := range b.Columns {
		run[i] = c.Take()
	}
	return run
}

// Warnings are what was noticed of all columns.
func (b *Batch) Warnings() (all []feedmill.Warning) {
	for _, c := range b.Columns {
		all = append(all, c.Warnings(c.Name())...)
	}
	return all
}

package feed

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// nameTries is how often a new feed gets another table name because another feed took the
// one that was free.
const nameTries = 10

// withTableName calls create with a feed that has a table name: the one that it has, or a free
// one by its name. If another feed takes that meanwhile, create is called again with another.
func (f *Feeds) withTableName(ctx context.Context, feed *feedmill.Feed, create func() error) error {
	if feed.TableName != "" {
		return create()
	}
	base := feedmill.DefaultTableName(feed.Name)
	var refused error
	for try := 0; try < nameTries; try++ {
		taken, err := f.Store.TableNames(ctx, feed.Workspace, base)
		if err != nil {
			return err
		}
		if refused != nil && !slices.Contains(taken, feed.TableName) {
			break // it is not about the name
		}
		feed.TableName = feedmill.FreeTableName(base, feed.ID, taken)
		if refused = create(); !errors.Is(refused, feedmill.ErrConflict) {
			break
		}
	}
	return refused
}

// nameTables gives table names to feeds that a program of an earlier release created.
func (f *Feeds) nameTables(ctx context.Context, _ time.Time) (more bool, err error) {
	const step = 100
	n, err := f.Store.NameTables(ctx, step)
	return n == step, err
}

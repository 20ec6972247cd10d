package feed

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

// oneFeed is a workspace with a feed.
type oneFeed struct {
	*Mill
	feed feedmill.Feed
}

func (o oneFeed) Feed(_ context.Context, _, id feedmill.ID) (feedmill.Feed, error) {
	if id != o.feed.ID {
		return feedmill.Feed{}, feedmill.ErrNotFound
	}
	return o.feed, nil
}

func (o oneFeed) Feeds(context.Context, feedmill.ID, feedmill.Page) ([]feedmill.Feed, error) {
	return []feedmill.Feed{o.feed}, nil
}

// TestSuite holds queries over feeds to what is held of every database.
func TestSuite(t *testing.T) {
	s, f := newShelf(t), newTypedFeed()
	builders := make([]*database.Builder, len(databasetest.Columns))
	for i, c := range databasetest.Columns {
		c.SourceName = c.Name
		s.source.columns = append(s.source.columns, c)
		builders[i] = database.NewBuilder(c)
	}
	for _, row := range databasetest.Rows() {
		for i, v := range row {
			add(builders[i], v, &databasetest.Columns[i])
		}
	}
	run := make([]columnar.Vector, len(builders))
	for i, b := range builders {
		run[i] = b.Take()
	}
	s.source.runs = [][]columnar.Vector{run}
	s.fetch(t, f)
	databasetest.Run(t, database.NewFeedDatabase(oneFeed{s.Mill, *f}, ""), string(f.ID))
}

// add adds a value of the suite's.
func add(b *database.Builder, v any, c *feedmill.Column) {
	switch v := v.(type) {
	case nil:
		b.Null()
	case string:
		b.Text([]byte(v))
	case *big.Rat:
		scaled := new(big.Rat).Mul(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil)))
		b.Int(scaled.Num().Int64())
	case float64:
		b.Float(v)
	case bool:
		b.Bool(v)
	case time.Time:
		if c.Type == columnar.TypeDate {
			b.Date(v.Unix() / (24 * 3600))
		} else {
			b.Timestamp(v.UnixMicro())
		}
	}
}

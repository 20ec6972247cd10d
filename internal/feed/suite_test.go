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

// someFeeds is a workspace with some feeds.
type someFeeds struct {
	*Mill
	feeds []feedmill.Feed
}

func (s someFeeds) Feed(_ context.Context, _, id feedmill.ID) (feedmill.Feed, error) {
	for _, f := range s.feeds {
		if f.ID == id {
			return f, nil
		}
	}
	return feedmill.Feed{}, feedmill.ErrNotFound
}

func (s someFeeds) Feeds(context.Context, feedmill.ID, feedmill.Page) ([]feedmill.Feed, error) {
	return s.feeds, nil
}

// TestSuite holds queries over feeds to what is held of every database.
func TestSuite(t *testing.T) {
	s := newShelf(t)
	var feeds []feedmill.Feed
	for _, data := range []struct {
		columns []feedmill.Column
		rows    [][]any
	}{{databasetest.Columns, databasetest.Rows()}, {databasetest.OtherColumns, databasetest.OtherRows}} {
		s.source.columns = nil
		builders := make([]*database.Builder, len(data.columns))
		for i, c := range data.columns {
			c.SourceName = c.Name
			s.source.columns = append(s.source.columns, c)
			builders[i] = database.NewBuilder(c)
		}
		for _, row := range data.rows {
			for i, v := range row {
				add(builders[i], v, &data.columns[i])
			}
		}
		run := make([]columnar.Vector, len(builders))
		for i, b := range builders {
			run[i] = b.Take()
		}
		s.source.runs = [][]columnar.Vector{run}
		f := newTypedFeed()
		s.fetch(t, f)
		feeds = append(feeds, *f)
	}
	databasetest.Run(t, database.NewFeedDatabase(someFeeds{s.Mill, feeds}, ""), string(feeds[0].ID), string(feeds[1].ID))
}

// add adds a value of the suite's.
func add(b *database.Builder, v any, c *feedmill.Column) {
	switch v := v.(type) {
	case nil:
		b.Null()
	case string:
		b.Text([]byte(v))
	case int:
		b.Int(int64(v))
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

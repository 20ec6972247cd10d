package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/client"
)

// feed is one that is read, in the default workspace.
type feed struct {
	*subject
	*client.Client
	client.DataFeed
}

// uncompressed does not ask for compressed responses, which earlier releases do not have: both sides send the
// same bytes.
var uncompressed = &http.Transport{DisableCompression: true}

// newFeed starts a server with a feed of the mixed table.
func newFeed(ctx context.Context, g *guard, s *side) (f feed, err error) {
	server, err := s.start(ctx, "sqlite")
	if err != nil {
		return f, err
	}
	return g.fill(ctx, server)
}

// fill uploads the mixed table.
func (g *guard) fill(ctx context.Context, server *subject) (f feed, err error) {
	data, err := g.make("feed.csv", "csv", func(path string) (int64, error) {
		made, err := table.Mixed.Write(path, table.Amount{Rows: g.rows})
		return made.Rows, err
	})
	if err != nil {
		return f, err
	}
	f = feed{subject: server, Client: client.New(server.URL, server.Admin)}
	f.HTTP.Transport = uncompressed
	f.DataFeed, err = f.Upload(ctx, f.Admin, data.path, data.format)
	return f, err
}

// exports are the formats of whole feeds.
var exports = []struct {
	name, format string
}{{"JSON", "json"}, {"CSV", "csv"}, {"xlsx", "xlsx"}, {"Parquet", "parquet"}, {"Arrow", "arrow"}}

func exportFigures() (figures []figure) {
	for _, e := range exports {
		figures = append(figures, figure{
			name: "exports: " + e.name, rows: []row{{measure: "CPU per row"}},
			open: func(ctx context.Context, g *guard, s *side) (round, error) {
				f, err := newFeed(ctx, g, s)
				if err != nil {
					return nil, err
				}
				query := client.RowQuery{Format: e.format}
				if e.format == "json" {
					query.Limit = f.RowCount // or there would be one page
				}
				return f.reading(query, 1, float64(f.RowCount), discard), nil
			},
		})
	}
	return figures
}

// pageRows is how many rows a page has.
const pageRows = 100

// pages are those that are read of a feed.
var pages = []struct {
	name  string
	query client.RowQuery
	// deep says that it lies behind nine tenths of the rows.
	deep bool
}{
	{name: "first"},
	{name: "filtered", query: client.RowQuery{Filters: []string{"city:eq:Aarhus", "amount:gt:9000"}}},
	{name: "sorted", query: client.RowQuery{Sort: "-amount"}},
	{name: "deep", deep: true},
}

func pageFigures() (figures []figure) {
	for _, p := range pages {
		figures = append(figures, figure{
			name: "pages: " + p.name, rows: []row{{measure: "CPU per page"}},
			open: func(ctx context.Context, g *guard, s *side) (round, error) {
				f, err := newFeed(ctx, g, s)
				if err != nil {
					return nil, err
				}
				query := p.query
				if p.deep {
					if query.Cursor, err = f.cursor(ctx, f.RowCount/10*9); err != nil {
						return nil, err
					}
				}
				query.Limit = pageRows
				return f.reading(query, g.pages, 1, wholePage), nil
			},
		})
	}
	return figures
}

// cursor is where to continue after so many rows. They are skipped by asking for
// them in the format that costs least, and reading none.
func (f feed) cursor(ctx context.Context, rows int64) (string, error) {
	skipped, err := f.ReadData(ctx, f.ID, client.RowQuery{Format: "arrow", Limit: rows})
	if err != nil {
		return "", err
	}
	return skipped.Next, skipped.Close()
}

// wholePage reads a page and checks that it has as many rows as were asked for.
func wholePage(r io.Reader) error {
	var rows []json.RawMessage
	if err := json.NewDecoder(r).Decode(&rows); err != nil {
		return err
	}
	if len(rows) != pageRows {
		return fmt.Errorf("the page has %d rows of %d", len(rows), pageRows)
	}
	return nil
}

// discard reads an export in large pieces, so that the client costs little.
func discard(r io.Reader) error {
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 256<<10))
	if err == nil && n == 0 {
		err = errors.New("the export is empty")
	}
	return err
}

// leastReading is how long a round reads at least: what the server does by itself meanwhile must be little
// beside it. mostReadings bounds how often.
const (
	leastReading = 150 * time.Millisecond
	mostReadings = 200
)

// reading reads a feed in rounds of at least so many times. Each time gives a number of units.
func (f feed) reading(query client.RowQuery, times int, units float64, take func(io.Reader) error) round {
	return func(ctx context.Context) ([]sample, error) {
		done := 0
		cpu, clock, err := f.spend(ctx, func() error {
			for began := time.Now(); done < times || time.Since(began) < leastReading && done < mostReadings; done++ {
				rows, err := f.ReadData(ctx, f.ID, query)
				if err != nil {
					return err
				}
				if err := errors.Join(take(rows), rows.Close()); err != nil {
					return err
				}
			}
			return nil
		})
		return perUnit(cpu, clock, units*float64(done)), err
	}
}

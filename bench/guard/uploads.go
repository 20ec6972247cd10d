package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/feedmill/feedmill/bench/internal/book"
	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/client"
)

// crowdTime is how long a request of another workspace makes a server leave a processor to it.
const crowdTime = 2500 * time.Millisecond

// shapes are the tables that are uploaded as text.
var shapes = []struct {
	name string
	kind table.Kind
}{{"mixed CSV", table.Mixed}, {"wide CSV", table.Wide}, {"NDJSON", table.Objects}, {"JSON", table.Document}}

func uploadFigures() (figures []figure) {
	for _, s := range shapes {
		make := func(g *guard) (file, error) { return g.table(s.kind, g.upload) }
		figures = append(figures,
			uploadFigure("uploads: "+s.name+", default workspace", make, inDefault),
			uploadFigure("uploads: "+s.name+", own workspace", make, inOwn))
	}
	mixed := func(g *guard) (file, error) { return g.table(table.Mixed, g.upload) }
	return append(figures, uploadFigure("uploads: mixed CSV, own workspace beside a request", mixed, besideRequest))
}

func formatFigures() []figure {
	return []figure{
		uploadFigure("formats: XML", func(g *guard) (file, error) { return g.table(table.Elements, g.upload) }, inDefault),
		uploadFigure("formats: xlsx", (*guard).workbook, inDefault),
		uploadFigure("formats: Parquet", (*guard).parquet, inDefault),
	}
}

// place is the workspace that an upload goes to.
type place int

const (
	// inDefault is the workspace of the bootstrap key.
	inDefault place = iota
	// inOwn is a workspace of its own, while nobody else makes requests.
	inOwn
	// besideRequest is a workspace of its own, right after a request to the default workspace.
	besideRequest
)

func uploadFigure(name string, make func(*guard) (file, error), to place) figure {
	f := figure{name: name, rows: []row{{measure: "CPU per MB"}}}
	if to == inOwn {
		f.settle = crowdTime // the default workspace has just created the own one
	}
	f.open = func(ctx context.Context, g *guard, s *side) (round, error) {
		data, err := make(g)
		if err != nil {
			return nil, err
		}
		server, err := s.start(ctx, "sqlite")
		if err != nil {
			return nil, err
		}
		key := server.Key
		if to == inDefault {
			key = server.Admin
		}
		return func(ctx context.Context) ([]sample, error) {
			if to == besideRequest {
				if err := server.look(ctx); err != nil {
					return nil, err
				}
			}
			return server.upload(ctx, key, data)
		}, nil
	}
	return f
}

// look makes a request to the default workspace.
func (s *subject) look(ctx context.Context) error {
	for _, err := range client.New(s.URL, s.Admin).DataFeeds(ctx) {
		return err // one page is enough
	}
	return nil
}

// upload measures an upload and deletes the feed.
func (s *subject) upload(ctx context.Context, key string, data file) ([]sample, error) {
	syscall.Sync() // no side pays for what the other has written
	var feed client.DataFeed
	cpu, clock, err := s.spend(ctx, func() (err error) {
		feed, err = s.Upload(ctx, key, data.path, data.format)
		return err
	})
	if err != nil {
		return nil, err
	}
	if feed.RowCount != data.Rows {
		return nil, fmt.Errorf("the feed has %d rows of %d", feed.RowCount, data.Rows)
	}
	return perUnit(cpu, clock, float64(data.Bytes)/1e6), client.New(s.URL, key).DeleteDataFeed(ctx, feed.ID)
}

// table is a file with a table of some MB.
func (g *guard) table(kind table.Kind, mb int64) (file, error) {
	return g.make(fmt.Sprintf("%s-%d.%s", kind.Name, mb, kind.Format), kind.Format, func(path string) (int64, error) {
		made, err := kind.Write(path, table.Amount{Bytes: mb * 1e6})
		return made.Rows, err
	})
}

func (g *guard) workbook() (file, error) {
	return g.make("book.xlsx", "xlsx", func(path string) (int64, error) { return int64(g.book), book.Write(path, "xlsx", g.book) })
}

// parquet is the mixed table, of twice as many MB as CSV.
func (g *guard) parquet() (file, error) {
	text, err := g.table(table.Mixed, 2*g.upload)
	if err != nil {
		return text, err
	}
	return g.make("mixed.parquet", "parquet", func(path string) (int64, error) {
		_, err := duck.Once(fmt.Sprintf("COPY (FROM read_csv(%s)) TO %s (FORMAT parquet, COMPRESSION zstd)", duck.Quote(text.path), duck.Quote(path)))
		return text.Rows, err
	})
}

// make writes a file, unless it is there already. write returns how many rows it has.
func (g *guard) make(name, format string, write func(path string) (int64, error)) (file, error) {
	if f, ok := g.files[name]; ok {
		return f, nil
	}
	f := file{path: filepath.Join(g.folder(), name), format: format}
	var err error
	if f.Rows, err = write(f.path); err != nil {
		return f, err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return f, err
	}
	f.Bytes = info.Size()
	g.files[name] = f
	return f, nil
}

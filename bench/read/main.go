// Command read measures how fast a feed is read: pages of a large one against
// the same query in a bare DuckDB that has the same file open, and exports of
// all rows against encoding/json, which encodes maps that are in memory already.
//
// Feedmill is the real program in a process of its own; so are DuckDB and the
// encoder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/client"
)

type options struct {
	rig.Options
	rounds, reads int
	rows, export  int64
	only          string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.IntVar(&o.reads, "reads", 11, "pages in a round")
	flag.Int64Var(&o.rows, "rows", 10_000_000, "rows of the feed that pages are of")
	flag.Int64Var(&o.export, "export", 1_000_000, "rows of the feed that is exported")
	flag.StringVar(&o.only, "only", "", "only the figures whose names hold one of these, separated by commas")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, duck.Role, encoder)
}

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	wanted := func(name string) bool { return rig.Chosen(o.only, name) }
	// A row of the table has fewer than 120 bytes.
	mill, err := r.Start(ctx, r.Feedmill, fmt.Sprint("FEEDMILL_MAX_UPLOAD_BYTES=", max(o.rows, o.export)*120))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	if err := readPages(ctx, r, mill, o, wanted); err != nil {
		return err
	}
	return readExports(ctx, r, mill, o, wanted)
}

// feed is one to read.
type feed struct {
	*client.Client
	client.DataFeed
	// file is the table as Feedmill keeps it.
	file string
}

// newFeed makes a feed of so many rows.
func newFeed(ctx context.Context, r *rig.Rig, mill *rig.Mill, rows int64) (made feed, err error) {
	path := filepath.Join(r.Folder(), "data.csv")
	if _, err := table.Mixed.Write(path, table.Amount{Rows: rows}); err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	data, err := os.Open(path)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	c := client.New(mill.URL, mill.Key)
	f, err := c.CreateDataFeed(ctx, client.Upload{Data: data, Format: table.Mixed.Format})
	if err != nil {
		return made, err
	}
	if f.RowCount != rows {
		return made, fmt.Errorf("the feed has %d rows of %d", f.RowCount, rows)
	}
	file, err := mill.Table(f)
	return feed{c, f, file}, err
}

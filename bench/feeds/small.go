package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
	"github.com/feedmill/feedmill/client"
)

const (
	smallRows   = 100
	wantedSmall = 20
)

// smallFiles measures uploads of a hundred rows against what a disk needs to
// keep anything at all, in turns.
func smallFiles(ctx context.Context, r *rig.Rig, f figure, rounds, uploads int) (err error) {
	d := data{path: filepath.Join(r.Folder(), "small.csv")}
	if d.Amount, err = f.kind.Write(d.path, table.Amount{Rows: smallRows}); err != nil {
		return err
	}
	mill, err := r.Start(ctx, r.Feedmill)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	c := client.New(mill.URL, mill.Key)
	least, err := newLeast(r.Folder())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, least.close()) }()
	var ratios []float64
	for range rounds {
		var ready, read, disk []time.Duration
		for range uploads {
			began := time.Now()
			feed, err := mill.Upload(ctx, mill.Key, d.path, f.kind.Format)
			if err != nil {
				return err
			}
			ready = append(ready, time.Since(began))
			if feed.RowCount != smallRows {
				return fmt.Errorf("the feed has %d rows of %d", feed.RowCount, smallRows)
			}
			if err := readAll(ctx, c, feed); err != nil {
				return err
			}
			read = append(read, time.Since(began))
			took, err := least.keep()
			if err != nil {
				return err
			}
			disk = append(disk, took)
		}
		a, b, c := rig.Median(ready), rig.Median(read), rig.Median(disk)
		ratios = append(ratios, float64(a)/float64(c))
		fmt.Printf("  %-24s ready after %v, read after %v; fsync, rename and commit take %v\n", f.name, a, b, c)
	}
	fmt.Printf("%-10s median %.1f times fsync, rename and commit (wanted: at most %d)\n", f.name, rig.Median(ratios), wantedSmall)
	return nil
}

func readAll(ctx context.Context, c *client.Client, feed client.DataFeed) error {
	rows, err := c.ReadData(ctx, feed.ID, client.RowQuery{})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, rows)
	return errors.Join(err, rows.Close())
}

// least keeps some bytes in the simplest way that holds: a file that is synced
// and then named, and a row that says so.
type least struct {
	folder string
	db     *sql.DB
}

func newLeast(folder string) (*least, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(folder, "least.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE files (name TEXT)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &least{folder, db}, nil
}

func (l *least) keep() (took time.Duration, err error) {
	temp, name := filepath.Join(l.folder, "least.tmp"), filepath.Join(l.folder, "least")
	began := time.Now()
	f, err := os.Create(temp)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(make([]byte, 8<<10))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(temp, name); err != nil {
		return 0, err
	}
	if _, err := l.db.Exec("INSERT INTO files VALUES (?)", name); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

func (l *least) close() error { return l.db.Close() }

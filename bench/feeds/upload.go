package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
)

// unlimited lets every file in.
const unlimited = "FEEDMILL_MAX_UPLOAD_BYTES=1000000000000"

// crowdTime is how long the workspace that has made the one of the benchmark counts as
// being at work beside it, so that a processor is left to it.
const crowdTime = 2500 * time.Millisecond

// upload sends a file to a Feedmill that runs for that alone, until it is
// ready to be read, and calls look before the table goes.
func upload(ctx context.Context, r *rig.Rig, f figure, d data, look func(*rig.Mill, spent, string) error) (err error) {
	mill, err := r.Start(ctx, r.Feedmill, unlimited)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mill.Close()) }()
	settle()
	time.Sleep(crowdTime)
	sending, used, began := rig.OwnTime(), mill.CPUTime(), time.Now()
	feed, err := mill.Upload(ctx, mill.Key, d.path, f.kind.Format)
	if err != nil {
		return err
	}
	s := spent{wall: time.Since(began), cpu: mill.CPUTime() - used, sending: rig.OwnTime() - sending}
	_, s.peak = mill.Memory()
	if feed.RowCount != d.Rows {
		return fmt.Errorf("the feed has %d rows of %d", feed.RowCount, d.Rows)
	}
	path, err := mill.Table(feed)
	if err != nil {
		return err
	}
	return look(mill, s, path)
}

// duckCopy is what DuckDB needs for the same, reading what it is told by its options.
func duckCopy(f figure, d data, options, to string) (spent, error) {
	read := "read_csv"
	if f.kind.Format == "ndjson" {
		read = "read_json"
	}
	sql := fmt.Sprintf("COPY (FROM %s(%s%s)) TO %s (FORMAT parquet, COMPRESSION zstd)", read, duck.Quote(d.path), options, duck.Quote(to))
	settle()
	r, err := duck.Once(sql)
	return spent{wall: r.Wall, cpu: r.CPU, peak: r.Peak}, err
}

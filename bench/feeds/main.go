// Command feeds measures how fast data that is uploaded becomes a table that
// can be read: against DuckDB, which makes a Parquet file of the same file, and
// for small files against what the disk needs at the least. It looks at the
// memory that large uploads take, too.
//
// Feedmill is the real program in a process of its own, and the data goes to it
// over the loopback interface; DuckDB, in another, reads it from the disk.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
)

type options struct {
	rig.Options
	rounds          int
	size, big, huge int64
	uploads         int
	large           bool
	only            string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.Int64Var(&o.size, "size", 300, "MB of the files")
	flag.Int64Var(&o.big, "big", 1000, "MB of the big file")
	flag.Int64Var(&o.huge, "huge", 5000, "MB of the file of -large")
	flag.IntVar(&o.uploads, "uploads", 101, "uploads of a small file in a round")
	flag.BoolVar(&o.large, "large", false, "measure the memory for a huge file, too")
	flag.StringVar(&o.only, "only", "", "only the figures whose names hold one of these, separated by commas")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, duck.Role)
}

// figure is one thing to measure.
type figure struct {
	name string
	kind table.Kind
	mb   int64
	// targets are those of an upload that is compared with DuckDB.
	targets targets
	// measure is called with a file of the kind and of about so many
	// megabytes, or with none where mb is zero.
	measure func(context.Context, *rig.Rig, figure, data) error
}

// data is a file to upload.
type data struct {
	path string
	table.Amount
}

func figures(o options) []figure {
	against := func(ctx context.Context, r *rig.Rig, f figure, d data) error { return compare(ctx, r, f, d, o.rounds) }
	small := func(ctx context.Context, r *rig.Rig, f figure, _ data) error {
		return smallFiles(ctx, r, f, o.rounds, o.uploads)
	}
	all := []figure{
		{name: "mixed", kind: table.Mixed, mb: o.size, targets: targets{1.6, 4.3}, measure: against},
		{name: "wide", kind: table.Wide, mb: o.size, targets: targets{2.5, 12}, measure: against},
		{name: "numeric", kind: table.Numeric, mb: o.size, targets: targets{2.2, 14}, measure: against},
		{name: "ndjson", kind: table.Objects, mb: o.size, targets: targets{1.3, 6}, measure: against},
		{name: "xml", kind: table.Elements, mb: o.size, measure: func(ctx context.Context, r *rig.Rig, f figure, d data) error { return elements(ctx, r, f, d, o.rounds) }},
		{name: "parquet", kind: table.Mixed, mb: o.size, measure: func(ctx context.Context, r *rig.Rig, f figure, d data) error { return parquet(ctx, r, f, d, o.rounds) }},
		{name: "big", kind: table.Mixed, mb: o.big, targets: targets{1.6, 4.5}, measure: against},
		{name: "memory", kind: table.Mixed, mb: o.big, measure: memory},
	}
	if o.large {
		all = append(all, figure{name: "memory, huge", kind: table.Mixed, mb: o.huge, measure: memory})
	}
	return append(all, figure{name: "small", kind: table.Mixed, measure: small})
}

func run(ctx context.Context, r *rig.Rig, o options) error {
	for _, f := range figures(o) {
		if !rig.Chosen(o.only, f.name) {
			continue
		}
		if err := f.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// run makes the file, measures, and removes the file.
func (f figure) run(ctx context.Context, r *rig.Rig) (err error) {
	if f.mb == 0 {
		return f.measure(ctx, r, f, data{})
	}
	// There are the file, Feedmill's copy of it, and the tables of both.
	if err := wantSpace(r.Folder(), 3*f.mb*1e6); err != nil {
		return err
	}
	path := filepath.Join(r.Folder(), f.kind.Name+"."+f.kind.Format)
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	made, err := f.kind.Write(path, table.Amount{Bytes: f.mb * 1e6})
	if err != nil {
		return err
	}
	return f.measure(ctx, r, f, data{path, made})
}

func wantSpace(folder string, bytes int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return err
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < bytes {
		return fmt.Errorf("%s has %d MB left and this needs %d; set TMPDIR", folder, free/1e6, bytes/1e6)
	}
	return nil
}

// settle waits until nothing is on its way to the disk any more, so that
// nobody pays for what another has written.
func settle() { syscall.Sync() }

// spent is what one side needed.
type spent struct {
	wall, cpu time.Duration
	// sending is the CPU time of whoever sends the data; it is not in cpu.
	sending time.Duration
	// peak is the largest that it was in memory, in bytes.
	peak int
}

func (s spent) String() string {
	text := fmt.Sprintf("%5.2f s, %5.2f s of CPU, %4d MB of memory", s.wall.Seconds(), s.cpu.Seconds(), s.peak>>20)
	if s.sending > 0 {
		text += fmt.Sprintf(" (and %.2f s of CPU to send it)", s.sending.Seconds())
	}
	return text
}

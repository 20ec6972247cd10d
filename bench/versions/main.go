// Command versions measures what versions of a large feed cost against what DuckDB needs for the
// same: rows that are merged into it, rows that are appended to it, what is different between two
// versions, and what its values are like.
//
// Feedmill is the real program in a process of its own, and the data goes to it
// over the loopback interface; DuckDB, in another, reads and writes files.
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

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

type options struct {
	rig.Options
	rounds int
	rows   int64
	only   string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.Int64Var(&o.rows, "rows", 10_000_000, "rows of the feed")
	flag.StringVar(&o.only, "only", "", "only the figures whose names hold one of these, separated by commas")
	rig.Run(&o.Options, func(ctx context.Context, r *rig.Rig) error { return run(ctx, r, o) }, duck.Role)
}

// bench is a feed of many rows, and the file that it is made of.
type bench struct {
	options
	rig  *rig.Rig
	mill *rig.Mill
	c    *client.Client
	base string
	feed client.DataFeed
	// version is that of the whole, to which every round goes back.
	version int64
}

// columns are those of a row whose number is i; change makes others of them.
const columns = `i AS id, 'customer ' || (i %% 50000) AS customer, hash(i + %[1]d) %% 1000000 / 100.0::DECIMAL(12,2) AS total, (hash(i) %% 7)::BIGINT AS shop,
	['new', 'paid', 'sent', 'returned'][1 + i %% 4] AS status, DATE '2020-01-01' + (i %% 2000)::INTEGER AS day, make_timestamp(1600000000000000 + i * 1000000) AS at,
	i %% 3 = 0 AS open, (hash(i * 31) %% 100000)::BIGINT AS points, CASE WHEN i %% 5 > 0 THEN 'note ' || (i %% 1000) END AS note`

func run(ctx context.Context, r *rig.Rig, o options) (err error) {
	b := &bench{options: o, rig: r, base: filepath.Join(r.Folder(), "base.parquet")}
	if err := write(b.base, fmt.Sprintf("range(%d)", o.rows), 0); err != nil {
		return err
	}
	if b.mill, err = r.Start(ctx, r.Feedmill, "FEEDMILL_MAX_UPLOAD_BYTES=1000000000000"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.mill.Close()) }()
	b.c = client.New(b.mill.URL, b.mill.Key)
	if b.feed, err = b.upload(ctx, b.base, "parquet", "", feedmill.ModeMerge); err != nil {
		return err
	}
	b.version = b.feed.Version
	fmt.Printf("a feed of %d rows and %d columns, %d MB\n", b.feed.RowCount, len(b.feed.Columns), b.feed.ByteSize>>20)
	for _, f := range []struct {
		name    string
		measure func(context.Context) error
	}{{"append", b.appends}, {"merge", b.merges}, {"changes", b.changes}, {"profile", b.profiles}} {
		if !rig.Chosen(o.only, f.name) {
			continue
		}
		if err := f.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// write has DuckDB write rows whose numbers are selected from something.
func write(path, from string, change int) error {
	_, err := duck.Once("COPY (SELECT " + fmt.Sprintf(columns, change) + " FROM " + from + " AS t(i)) TO " + duck.Quote(path) + " (FORMAT parquet, COMPRESSION zstd)")
	return err
}

// upload makes a feed of a file, or gives it to one.
func (b *bench) upload(ctx context.Context, path, format, feed string, mode feedmill.FeedMode) (f client.DataFeed, err error) {
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	u := client.Upload{Data: file, Format: format, Mode: mode}
	if mode == feedmill.ModeMerge {
		u.Key = []string{"id"}
	}
	if feed == "" {
		return b.c.CreateDataFeed(ctx, u, client.IdempotencyKey(""))
	}
	return b.c.ReplaceData(ctx, feed, u, client.IdempotencyKey(""))
}

// spent is what one side needed.
type spent struct{ wall, cpu time.Duration }

func (s spent) String() string {
	return fmt.Sprintf("%6.2f s, %6.2f s of CPU", s.wall.Seconds(), s.cpu.Seconds())
}

// ours measures what Feedmill does.
func (b *bench) ours(do func() error) (spent, error) {
	syscall.Sync() // so that nobody pays for what another has written
	used, began := b.mill.CPUTime(), time.Now()
	err := do()
	return spent{time.Since(began), b.mill.CPUTime() - used}, err
}

// theirs measures a statement of DuckDB.
func theirs(sql string) (spent, error) {
	syscall.Sync()
	r, err := duck.Once(sql)
	return spent{r.Wall, r.CPU}, err
}

// ratios are those of several rounds.
type ratios struct{ wall, cpu []float64 }

func (r *ratios) add(ours, theirs spent) {
	r.wall = append(r.wall, ours.wall.Seconds()/theirs.wall.Seconds())
	r.cpu = append(r.cpu, ours.cpu.Seconds()/theirs.cpu.Seconds())
}

func (r *ratios) print(name, baseline string, wanted float64) {
	fmt.Printf("%-10s median %.2f times %s, %.2f by CPU time (wanted: at most %.0f)\n", name, rig.Median(r.wall), baseline, rig.Median(r.cpu), wanted)
}

// goBack gives the feed the rows again that it was made of.
func (b *bench) goBack(ctx context.Context) error {
	_, err := b.c.RestoreVersion(ctx, b.feed.ID, b.version)
	return err
}

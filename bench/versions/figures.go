package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// appends measures a thousand rows that are appended to many against a feed of those rows.
func (b *bench) appends(ctx context.Context) error {
	const rows, times = 1000, 11
	var text strings.Builder
	text.WriteString("id,customer,total,shop,status,day,at,open,points,note\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,customer %d,%d.%02d,%d,paid,2026-01-%02d,2026-01-02T03:04:%02dZ,true,%d,note %d\n", b.rows+int64(i), i, i, i%100, i%7, 1+i%28, i%60, i, i)
	}
	path := filepath.Join(b.rig.Folder(), "append.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return err
	}
	var r ratios
	for range b.rounds {
		var added, alone spent
		var walls [2][]time.Duration
		for range times {
			one, err := b.ours(func() error { _, err := b.upload(ctx, path, "csv", b.feed.ID, feedmill.ModeAppend); return err })
			if err != nil {
				return err
			}
			other, err := b.ours(func() error { _, err := b.upload(ctx, path, "csv", "", ""); return err })
			if err != nil {
				return err
			}
			walls[0], walls[1] = append(walls[0], one.wall), append(walls[1], other.wall)
			added.cpu, alone.cpu = added.cpu+one.cpu, alone.cpu+other.cpu
		}
		added.wall, alone.wall = rig.Median(walls[0]), rig.Median(walls[1])
		fmt.Printf("  %-10s appended %v, uploaded %v; CPU of %d\n", "append", added, alone, times)
		r.add(added, alone)
		if err := b.goBack(ctx); err != nil {
			return err
		}
	}
	r.print("append", "an upload of the rows", 3)
	return nil
}

// merges measures a tenth as many rows that are merged, four of five for rows that there are, against the statement
// of DuckDB that makes the same table.
func (b *bench) merges(ctx context.Context) error {
	const wantedMemory = 600
	path, to := filepath.Join(b.rig.Folder(), "delta.parquet"), filepath.Join(b.rig.Folder(), "merged.parquet")
	n := b.rows / 10
	if err := write(path, fmt.Sprintf("(SELECT CASE WHEN range < %d THEN range * 12 ELSE %d + range END FROM range(%d))", n*4/5, b.rows, n), 1); err != nil {
		return err
	}
	var r ratios
	memory := 0
	for range b.rounds {
		watch := b.mill.Watch()
		ours, err := b.ours(func() error { _, err := b.upload(ctx, path, "parquet", b.feed.ID, feedmill.ModeMerge); return err })
		seen, _ := watch.End()
		if err != nil {
			return err
		}
		memory = max(memory, seen.Total)
		duckdb, err := theirs("COPY (SELECT * FROM " + duck.Quote(b.base) + " AS o ANTI JOIN " + duck.Quote(path) + " AS n USING (id) UNION ALL FROM " + duck.Quote(path) +
			") TO " + duck.Quote(to) + " (FORMAT parquet, COMPRESSION zstd)")
		if err != nil {
			return err
		}
		fmt.Printf("  %-10s Feedmill %v, %d MB, %d of which are mapped files; DuckDB %v\n", "merge", ours, seen.Total>>20, seen.File>>20, duckdb)
		r.add(ours, duckdb)
		if err := errors.Join(os.Remove(to), b.goBack(ctx)); err != nil {
			return err
		}
	}
	r.print("merge", "DuckDB", 3)
	fmt.Printf("%-10s at most %d MB resident, workers and files that they have mapped included (wanted: under %d)\n", "merge", memory>>20, wantedMemory)
	return nil
}

// changes measures what is different between two versions, one row of a hundred, against the joins of DuckDB.
func (b *bench) changes(ctx context.Context) error {
	path, to, out := filepath.Join(b.rig.Folder(), "changed.parquet"), filepath.Join(b.rig.Folder(), "new.parquet"), filepath.Join(b.rig.Folder(), "changes.csv")
	if err := write(path, fmt.Sprintf("(SELECT range * 100 FROM range(%d))", b.rows/100), 2); err != nil {
		return err
	}
	newest, err := b.upload(ctx, path, "parquet", b.feed.ID, feedmill.ModeMerge)
	if err != nil {
		return err
	}
	if _, err := duck.Once("COPY (SELECT * FROM " + duck.Quote(b.base) + " AS o ANTI JOIN " + duck.Quote(path) + " AS n USING (id) UNION ALL FROM " + duck.Quote(path) +
		") TO " + duck.Quote(to) + " (FORMAT parquet, COMPRESSION zstd)"); err != nil {
		return err
	}
	old, fresh := duck.Quote(b.base), duck.Quote(to)
	sql := "SELECT 'update' AS _change, n.*, o FROM " + fresh + " AS n JOIN " + old + " AS o USING (id) WHERE (n.customer, n.total, n.shop, n.status, n.day, n.at, n.open, n.points, n.note) IS DISTINCT FROM " +
		"(o.customer, o.total, o.shop, o.status, o.day, o.at, o.open, o.points, o.note) UNION ALL SELECT 'insert', n.*, NULL FROM " + fresh + " AS n ANTI JOIN " + old +
		" AS o USING (id) UNION ALL SELECT 'delete', o.*, NULL FROM " + old + " AS o ANTI JOIN " + fresh + " AS n USING (id)"
	var r ratios
	for range b.rounds {
		lines := 0
		ours, err := b.ours(func() error {
			rows, err := b.c.FeedChanges(ctx, b.feed.ID, b.version, newest.Version, client.RowQuery{Format: "ndjson"})
			if err != nil {
				return err
			}
			lines, err = countLines(rows)
			return errors.Join(err, rows.Close())
		})
		if err != nil {
			return err
		}
		duckdb, err := theirs("COPY (" + sql + ") TO " + duck.Quote(out) + " (FORMAT csv)")
		if err != nil {
			return err
		}
		fmt.Printf("  %-10s Feedmill %v, %d rows; DuckDB %v\n", "changes", ours, lines, duckdb)
		r.add(ours, duckdb)
	}
	r.print("changes", "DuckDB", 3)
	return errors.Join(os.Remove(to), b.goBack(ctx))
}

func countLines(r io.Reader) (n int, err error) {
	buf := make([]byte, 64<<10)
	for {
		got, err := r.Read(buf)
		n += bytes.Count(buf[:got], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// profiles measures what is said of the values against SUMMARIZE. A profile is kept, so each round asks for that
// of a version that nobody has asked for.
func (b *bench) profiles(ctx context.Context) error {
	path := filepath.Join(b.rig.Folder(), "one.csv")
	var r ratios
	for i := range b.rounds {
		line := fmt.Sprintf("id,customer\n%d,one\n", b.rows+int64(i))
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			return err
		}
		if _, err := b.upload(ctx, path, "csv", b.feed.ID, feedmill.ModeAppend); err != nil {
			return err
		}
		ours, err := b.ours(func() error { _, err := b.c.FeedProfile(ctx, b.feed.ID, client.RowQuery{}); return err })
		if err != nil {
			return err
		}
		duckdb, err := theirs("SUMMARIZE FROM " + duck.Quote(b.base))
		if err != nil {
			return err
		}
		fmt.Printf("  %-10s Feedmill %v; DuckDB %v\n", "profile", ours, duckdb)
		r.add(ours, duckdb)
	}
	r.print("profile", "SUMMARIZE", 2)
	return nil
}

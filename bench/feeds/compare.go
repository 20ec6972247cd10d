package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
)

// baseline is a way in which DuckDB reads, and how many times as fast as it
// Feedmill should be.
type baseline struct {
	name, options string
	target        float64
	wall, cpu     []float64
}

// targets are how many times as fast an upload should be: as DuckDB with a sample, and as
// DuckDB with a scan of all rows.
type targets struct{ sample, all float64 }

// baselines are the ways in which DuckDB reads: it infers types from a sample or, like
// Feedmill, from all rows.
func (t targets) baselines() []*baseline {
	return []*baseline{{name: "DuckDB", target: t.sample}, {name: "DuckDB, sample_size=-1", options: ", sample_size=-1", target: t.all}}
}

// compare measures uploads against what DuckDB needs for the same file.
func compare(ctx context.Context, r *rig.Rig, f figure, d data, rounds int) error {
	fmt.Printf("%s: %d MB of %s, %d rows\n", f.name, d.Bytes/1e6, f.kind.Format, d.Rows)
	all := f.targets.baselines()
	for range rounds {
		if err := round(ctx, r, f, d, all); err != nil {
			return err
		}
	}
	for _, b := range all {
		fmt.Printf("%-10s median %.2f times as fast as %s, %.2f by CPU time (target: at least %.1f)\n",
			f.name, rig.Median(b.wall), b.name, rig.Median(b.cpu), b.target)
	}
	return nil
}

func round(ctx context.Context, r *rig.Rig, f figure, d data, all []*baseline) error {
	return upload(ctx, r, f, d, func(_ *rig.Mill, ours spent, table string) error {
		fmt.Printf("  %-24s %v\n", "Feedmill", ours)
		for _, b := range all {
			theirs, err := against(f, d, b, table)
			if err != nil {
				return err
			}
			b.wall = append(b.wall, theirs.wall.Seconds()/ours.wall.Seconds())
			b.cpu = append(b.cpu, theirs.cpu.Seconds()/ours.cpu.Seconds())
			fmt.Printf("  %-24s %v\n", b.name, theirs)
		}
		return nil
	})
}

// against measures DuckDB, and wants that its table says the same as Feedmill's.
func against(f figure, d data, b *baseline, table string) (s spent, err error) {
	to := filepath.Join(filepath.Dir(d.path), "duckdb.parquet")
	if s, err = duckCopy(f, d, b.options, to); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.Remove(to)) }()
	var sums [2][]uint64
	for i, file := range []string{table, to} {
		r, err := duck.Once("SELECT " + f.kind.Check + " FROM " + duck.Quote(file))
		if err != nil {
			return s, err
		}
		sums[i] = r.First
	}
	if len(sums[0]) == 0 || !slices.Equal(sums[0], sums[1]) {
		return s, fmt.Errorf("the tables differ: Feedmill's %d, DuckDB's %d", sums[0], sums[1])
	}
	return s, nil
}

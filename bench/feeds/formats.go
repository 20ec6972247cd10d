package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/feedmill/feedmill/bench/internal/duck"
	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/bench/internal/table"
)

// elements measures uploads of XML against those of the same rows as CSV.
func elements(ctx context.Context, r *rig.Rig, f figure, d data, rounds int) (err error) {
	path := filepath.Join(filepath.Dir(d.path), "same.csv")
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	made, err := table.Mixed.Write(path, table.Amount{Rows: d.Rows})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d MB, and %d MB of CSV, %d rows\n", f.name, d.Bytes/1e6, made.Bytes/1e6, d.Rows)
	sides := []struct {
		figure
		data
	}{{f, d}, {figure{name: "csv", kind: table.Mixed}, data{path, made}}}
	var ratios []float64
	peak := 0
	for range rounds {
		var cpu [2]float64
		for i, side := range sides {
			err := upload(ctx, r, side.figure, side.data, func(_ *rig.Mill, s spent, _ string) error {
				fmt.Printf("  %-24s %v\n", side.name, s)
				cpu[i] = s.cpu.Seconds()
				if i == 0 {
					peak = max(peak, s.peak)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		ratios = append(ratios, cpu[0]/cpu[1])
	}
	fmt.Printf("%-10s median %.2f times the CPU time of CSV (target: at most 1.8), %d MB resident (target: under 300)\n", f.name, rig.Median(ratios), peak>>20)
	return nil
}

// parquet measures uploads of Parquet against DuckDB, which copies the same file into another.
func parquet(ctx context.Context, r *rig.Rig, f figure, d data, rounds int) (err error) {
	in, to := filepath.Join(filepath.Dir(d.path), "in.parquet"), filepath.Join(filepath.Dir(d.path), "out.parquet")
	defer func() { err = errors.Join(err, os.Remove(in), os.Remove(to)) }()
	if _, err := duckCopy(f, d, "", in); err != nil {
		return err
	}
	info, err := os.Stat(in)
	if err != nil {
		return err
	}
	d = data{in, table.Amount{Bytes: info.Size(), Rows: d.Rows}}
	f.kind.Format = "parquet"
	fmt.Printf("%s: %d MB, %d rows\n", f.name, d.Bytes/1e6, d.Rows)
	var wall, cpu []float64
	for range rounds {
		err := upload(ctx, r, f, d, func(_ *rig.Mill, ours spent, _ string) error {
			fmt.Printf("  %-24s %v\n", "Feedmill", ours)
			settle()
			copied, err := duck.Once(fmt.Sprintf("COPY (FROM read_parquet(%s)) TO %s (FORMAT parquet, COMPRESSION zstd)", duck.Quote(in), duck.Quote(to)))
			theirs := spent{wall: copied.Wall, cpu: copied.CPU, peak: copied.Peak}
			fmt.Printf("  %-24s %v\n", "DuckDB", theirs)
			wall = append(wall, theirs.wall.Seconds()/ours.wall.Seconds())
			cpu = append(cpu, theirs.cpu.Seconds()/ours.cpu.Seconds())
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("%-10s median %.2f times as fast as DuckDB, %.2f by CPU time (target: at least 0.9)\n", f.name, rig.Median(wall), rig.Median(cpu))
	return nil
}

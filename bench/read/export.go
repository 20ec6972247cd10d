package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/feedmill/feedmill/bench/internal/rig"
	"github.com/feedmill/feedmill/client"
)

// export is a format, and how many times as many rows it should give for each
// second of CPU as encoding/json.
type export struct {
	format string
	wanted float64
	count  func(io.Reader) (rows int64, err error)
}

var exports = []export{
	{"ndjson", 5, countLines},
	{"arrow", 8, countBatches},
}

func readExports(ctx context.Context, r *rig.Rig, mill *rig.Mill, o options, wanted func(string) bool) error {
	if !wanted("export ndjson, export arrow") {
		return nil
	}
	f, err := newFeed(ctx, r, mill, o.export)
	if err != nil {
		return err
	}
	sample := filepath.Join(r.Folder(), "sample.ndjson")
	if err := f.save(ctx, sample); err != nil {
		return err
	}
	for _, e := range exports {
		if !wanted("export " + e.format) {
			continue
		}
		if err := e.verify(ctx, f); err != nil {
			return fmt.Errorf("export %s: %w", e.format, err)
		}
		var ratios []float64
		for range o.rounds {
			used, began := mill.CPUTime(), time.Now()
			size, err := e.read(ctx, f)
			if err != nil {
				return err
			}
			took, cpu := time.Since(began), mill.CPUTime()-used
			maps, err := encodeMaps(ctx, sample, o.export)
			if err != nil {
				return err
			}
			ratios = append(ratios, maps.Seconds()/cpu.Seconds())
			fmt.Printf("  export %-8s %d MB in %v, %.0f ns of CPU for a row; encoding/json %.0f\n",
				e.format, size/1e6, took.Round(time.Millisecond), perRow(cpu, o.export), perRow(maps, o.export))
		}
		fmt.Printf("export %-8s median %.1f times the rows of encoding/json for each second of CPU (wanted: at least %.0f)\n", e.format, rig.Median(ratios), e.wanted)
	}
	return nil
}

func perRow(d time.Duration, rows int64) float64 { return float64(d.Nanoseconds()) / float64(rows) }

// read takes all rows as they come and returns how many bytes they had.
func (e export) read(ctx context.Context, f feed) (int64, error) {
	rows, err := f.ReadData(ctx, f.ID, client.RowQuery{Format: e.format})
	if err != nil {
		return 0, err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, rows, make([]byte, 256<<10))
	return n, errors.Join(err, rows.Close())
}

// verify counts the rows.
func (e export) verify(ctx context.Context, f feed) error {
	rows, err := f.ReadData(ctx, f.ID, client.RowQuery{Format: e.format})
	if err != nil {
		return err
	}
	n, err := e.count(rows)
	if err := errors.Join(err, rows.Close()); err != nil {
		return err
	}
	if n != f.RowCount {
		return fmt.Errorf("%d rows of %d", n, f.RowCount)
	}
	return nil
}

func countLines(r io.Reader) (lines int64, err error) {
	for buf := make([]byte, 256<<10); ; {
		n, err := r.Read(buf)
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

func countBatches(r io.Reader) (rows int64, err error) {
	stream, err := ipc.NewReader(r)
	if err != nil {
		return 0, err
	}
	defer stream.Release()
	for stream.Next() {
		rows += stream.RecordBatch().NumRows()
	}
	return rows, stream.Err()
}

// sampleRows is how many rows the encoder has; it encodes them again and again.
const sampleRows = 10_000

// save keeps the first rows as a file.
func (f feed) save(ctx context.Context, path string) error {
	rows, err := f.ReadData(ctx, f.ID, client.RowQuery{Format: "ndjson", Limit: sampleRows})
	if err != nil {
		return err
	}
	defer rows.Close()
	text, err := io.ReadAll(rows)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// Command readers measures the readers of formats by themselves, each in a process of its own: workbooks
// against the library excelize and against each other, and XML against encoding/xml.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill/bench/internal/book"
	"github.com/feedmill/feedmill/bench/internal/rig"
)

type options struct {
	rounds, rows int
	big, xml     int
	only         string
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each figure; the median counts")
	flag.IntVar(&o.rows, "rows", 200_000, "rows of the workbooks")
	flag.IntVar(&o.big, "big", 100, "MB of the workbook whose memory is measured")
	flag.IntVar(&o.xml, "xml", 200, "MB of the XML file")
	flag.StringVar(&o.only, "only", "", "only the figures whose names hold one of these, separated by commas")
	rig.Main(func(ctx context.Context) (err error) {
		flag.Parse()
		folder, err := os.MkdirTemp("", "readers")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		return run(ctx, o, folder)
	}, rig.Role{Name: "read", Run: read})
}

func run(ctx context.Context, o options, folder string) error {
	for _, f := range []struct {
		name    string
		measure func(context.Context, options, string) error
	}{{"xlsx", workbooks}, {"memory", memory}, {"xml", elements}} {
		if !rig.Chosen(o.only, f.name) {
			continue
		}
		if err := f.measure(ctx, o, folder); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// spent is what a process has needed to read a file.
type spent struct {
	Items int64 // cells or tokens
	CPU   time.Duration
	Peak  int
}

func (s spent) rate() float64 { return float64(s.Items) / s.CPU.Seconds() }

// reading reads a file in a process of its own.
func reading(ctx context.Context, how, path string) (s spent, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.CommandContext(ctx, self, "read", how, path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s: %w", how, err)
	}
	return s, json.Unmarshal(out, &s)
}

// workbooks compares our readers with excelize, and with each other.
func workbooks(ctx context.Context, o options, folder string) error {
	formats := []string{"xlsx", "xlsb", "ods", "xls"}
	for _, format := range formats {
		if err := book.Write(filepath.Join(folder, "book."+format), format, o.rows); err != nil {
			return err
		}
	}
	fmt.Printf("xlsx: %d rows of %d cells (xls: %d rows)\n", o.rows, book.Columns, min(o.rows, book.MaxXLSRows))
	ratios := make(map[string][]float64)
	for range o.rounds {
		var ours spent
		for _, how := range append([]string{"xlsx", "excelize"}, formats[1:]...) {
			format := how
			if how == "excelize" {
				format = "xlsx"
			}
			s, err := reading(ctx, how, filepath.Join(folder, "book."+format))
			if err != nil {
				return err
			}
			if how == "xlsx" {
				ours = s
			}
			ratios[how] = append(ratios[how], s.rate()/ours.rate())
			fmt.Printf("  %-10s %9d cells, %6.2f s of CPU, %4.0f thousand cells a CPU-second, %4d MB\n", how, s.Items, s.CPU.Seconds(), s.rate()/1e3, s.Peak>>20)
		}
	}
	fmt.Printf("xlsx       median %.1f times the cells a CPU-second of excelize with raw values (target: at least 8)\n", 1/rig.Median(ratios["excelize"]))
	for _, format := range formats[1:] {
		fmt.Printf("%-10s median %.2f times the cells a CPU-second of xlsx (target: at least 0.8)\n", format, rig.Median(ratios[format]))
	}
	return nil
}

// memory looks at how large the reader becomes with a large workbook.
func memory(ctx context.Context, o options, folder string) error {
	path := filepath.Join(folder, "big.xlsx")
	defer os.Remove(path)
	rows, size := 200_000, int64(0)
	for {
		if err := book.Write(path, "xlsx", rows); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if size = info.Size(); size >= int64(o.big)*1e6 || rows == book.MaxRows {
			break
		}
		rows = min(int(float64(rows)*float64(o.big)*1.02e6/float64(size)), book.MaxRows)
	}
	s, err := reading(ctx, "xlsx", path)
	if err != nil {
		return err
	}
	fmt.Printf("memory     %d MB of xlsx, %d cells: at most %d MB resident (target: under 150 for 100 MB)\n", size/1e6, s.Items, s.Peak>>20)
	return nil
}

// elements compares our reader of XML with encoding/xml.
func elements(ctx context.Context, o options, folder string) error {
	path := filepath.Join(folder, "orders.xml")
	defer os.Remove(path)
	if err := writeOrders(path, int64(o.xml)*1e6); err != nil {
		return err
	}
	fmt.Printf("xml: %d MB\n", o.xml)
	var ratios []float64
	for range o.rounds {
		ours, err := reading(ctx, "xml", path)
		if err != nil {
			return err
		}
		theirs, err := reading(ctx, "encoding/xml", path)
		if err != nil {
			return err
		}
		ratios = append(ratios, theirs.CPU.Seconds()/ours.CPU.Seconds())
		fmt.Printf("  ours %.0f MB a CPU-second, encoding/xml %.0f\n", float64(o.xml)/ours.CPU.Seconds(), float64(o.xml)/theirs.CPU.Seconds())
	}
	fmt.Printf("xml        median %.1f times the MB a CPU-second of encoding/xml (target: at least 8)\n", rig.Median(ratios))
	return nil
}

package model

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

const benchBytes = 64 << 20

// benchRuns are runs of about a megabyte of a table with twelve columns of many
// types and nulls.
var benchRuns = sync.OnceValue(func() (runs []*columnar.Cells) {
	random := rand.New(rand.NewPCG(1, 2))
	cities := []string{"Paris", "Lyon", "Köln", "San Francisco", "Łódź"}
	id := 0
	for len(runs) < benchBytes>>20 {
		cells := &columnar.Cells{First: int64(id), Columns: 12}
		field := func(format string, args ...any) {
			start := len(cells.Data)
			cells.Data = fmt.Appendf(cells.Data, format, args...)
			cells.Cell = append(cells.Cell, columnar.NewCell(columnar.CellPlain, start, len(cells.Data)))
			cells.Data = append(cells.Data, ',')
		}
		for len(cells.Data) < 1<<20 {
			id++
			field("%d", id)
			field("customer-%d", random.IntN(100_000))
			field("%05d", random.IntN(100_000))
			field("%d.%02d", random.IntN(10_000), random.IntN(100))
			field("%d", random.IntN(50))
			field("%t", id%3 == 0)
			field("2026-%02d-%02d", 1+random.IntN(12), 1+random.IntN(28))
			field("2026-%02d-%02d %02d:%02d:%02d", 1+random.IntN(12), 1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60))
			field("%s", cities[random.IntN(len(cities))])
			field("ordered by telephone")
			if id%7 == 0 {
				field("")
			} else {
				field("%.4f", random.Float64()*100)
			}
			field("%c%d", 'A'+rune(random.IntN(26)), random.IntN(1000))
			cells.Rows++
		}
		runs = append(runs, cells)
	}
	return runs
})

// measure runs work again and again and reports megabytes for each second of
// the processors' time, which other programs disturb less than the clock's.
func measure(b *testing.B, work func()) {
	b.Helper()
	b.SetBytes(benchBytes)
	before := processorTime()
	for b.Loop() {
		work()
	}
	spent := processorTime() - before
	b.ReportMetric(benchBytes*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkInference(b *testing.B) {
	runs := benchRuns()
	measure(b, func() {
		inference := New(Options{})
		for _, run := range runs {
			inference.Block(run)
		}
		if schema, _ := inference.Decide(nil, feedmill.Findings{}); schema.Columns[0].Type != columnar.TypeInteger {
			b.Fatal(schema.Columns)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	runs := benchRuns()
	inference := New(Options{})
	for _, run := range runs {
		inference.Block(run)
	}
	schema, _ := inference.Decide(nil, feedmill.Findings{})
	vectors := make([]columnar.Vector, len(schema.Columns))
	measure(b, func() {
		for _, run := range runs {
			if err := schema.Convert(run, vectors); err != nil {
				b.Fatal(err)
			}
		}
	})
}

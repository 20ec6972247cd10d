package csv

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

var benchTable = sync.OnceValue(func() []byte { return decodetest.MixedTable(64 << 20) })

func benchCSV(b *testing.B, data []byte) *Table {
	b.Helper()
	c, err := Open(b.Context(), bytes.NewReader(data), Options{Temp: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// measure runs work again and again and reports megabytes for each second of
// the processors' time, which other programs disturb less than the clock's.
func measure(b *testing.B, bytes int, work func()) {
	b.Helper()
	b.SetBytes(int64(bytes))
	before := processorTime()
	for b.Loop() {
		work()
	}
	spent := processorTime() - before
	b.ReportMetric(float64(bytes)*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkOpen is the look at the whole text that comes before everything else.
func BenchmarkOpen(b *testing.B) {
	data := benchTable()
	measure(b, len(data), func() { benchCSV(b, data) })
}

// BenchmarkScan reads all cells, with one goroutine and with two.
func BenchmarkScan(b *testing.B) {
	data := benchTable()
	for _, workers := range []int{1, 2} {
		for _, reading := range []string{"first", "second"} {
			b.Run(fmt.Sprintf("workers=%d/%s", workers, reading), func(b *testing.B) {
				c := benchCSV(b, data)
				var cells atomic.Int64
				read := func() {
					if err := c.Each(b.Context(), workers, func(run *columnar.Cells) error {
						cells.Add(int64(len(run.Cell)))
						return nil
					}); err != nil {
						b.Fatal(err)
					}
				}
				read()
				measure(b, len(data), func() {
					c.whole = reading == "second"
					read()
				})
			})
		}
	}
}

// BenchmarkTolerantScan reads a table that is broken from the beginning on.
func BenchmarkTolerantScan(b *testing.B) {
	data := append([]byte("id,customer,zip,amount,quantity,paid,day,at,city,note,score,code\n0,5\" x,1,1,1,true,2026-01-01,,,,,\n"), benchTable()[66:]...)
	c := benchCSV(b, data)
	measure(b, len(data), func() {
		c.whole = false
		if err := c.Each(b.Context(), 1, func(*columnar.Cells) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
}

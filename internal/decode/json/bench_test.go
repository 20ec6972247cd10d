package json

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

func benchmarkJSON(b *testing.B, open jsonOpener, data []byte, options Options, workers int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		j, err := open(b.Context(), bytes.NewReader(data), options)
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Each(b.Context(), workers, func(*columnar.Cells) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJSON measures a first reading, with all that finding the records takes.
func BenchmarkJSON(b *testing.B) {
	const size = 64 << 20
	lines := decodetest.Records(size, "\n")
	array := append(append([]byte("["), decodetest.Records(size, ",\n")...), ']')
	inside := append(append([]byte(`{"meta":{"page":1},"data":`), array...), '}')
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("lines/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, OpenLines, lines, Options{}, workers)
		})
		b.Run(fmt.Sprintf("array/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, Open, array, Options{}, workers)
		})
		b.Run(fmt.Sprintf("inside/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, Open, inside, Options{}, workers)
		})
		b.Run(fmt.Sprintf("path/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, Open, inside, Options{Path: "$.data[*]"}, workers)
		})
	}
}

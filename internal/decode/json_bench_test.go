package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
)

// benchRecords writes flat records of mixed types, as exports of orders have
// them, each followed by a separator.
func benchRecords(size int, separator string) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	status := []string{"paid", "open", "cancelled", "refunded"}
	var b bytes.Buffer
	for id := 0; b.Len() < size; id++ {
		if id > 0 {
			b.WriteString(separator)
		}
		fmt.Fprintf(&b, `{"id":%d,"customer":"C%06d","status":%q,"placed_at":"2026-%02d-%02dT10:%02d:00Z","total":%d.%02d,"currency":"EUR","paid":%t,"discount":null,"note":"deliver to the back door, ring twice","email":"user%d@example.com"}`,
			id, random.IntN(1e6), status[random.IntN(4)], 1+random.IntN(12), 1+random.IntN(28), random.IntN(60),
			random.IntN(10000), random.IntN(100), random.IntN(2) == 0, random.IntN(1e5))
	}
	return b.Bytes()
}

func benchmarkJSON(b *testing.B, open jsonOpener, data []byte, options JSONOptions, workers int) {
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
	lines := benchRecords(size, "\n")
	array := append(append([]byte("["), benchRecords(size, ",\n")...), ']')
	inside := append(append([]byte(`{"meta":{"page":1},"data":`), array...), '}')
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("lines/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, OpenNDJSON, lines, JSONOptions{}, workers)
		})
		b.Run(fmt.Sprintf("array/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, OpenJSON, array, JSONOptions{}, workers)
		})
		b.Run(fmt.Sprintf("inside/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, OpenJSON, inside, JSONOptions{}, workers)
		})
		b.Run(fmt.Sprintf("path/workers=%d", workers), func(b *testing.B) {
			benchmarkJSON(b, OpenJSON, inside, JSONOptions{Path: "$.data[*]"}, workers)
		})
	}
}

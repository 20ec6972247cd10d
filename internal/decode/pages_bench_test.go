package decode

import (
	"bytes"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// BenchmarkPages reads a table of 64 MB in a thousand pages, and in one.
func BenchmarkPages(b *testing.B) {
	const size = 64 << 20
	for _, pages := range []int{1, 1000} {
		for _, format := range []string{"json", "csv"} {
			page := append(append([]byte(`{"data":[`), decodetest.Records(size/pages, ",")...), "]}"...)
			if format == "csv" {
				page = decodetest.MixedTable(size / pages)
			}
			name := format + " in one"
			if pages > 1 {
				name = format + " in pages"
			}
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(pages) * int64(len(page)))
				for b.Loop() {
					p := NewPages(Options{}, func(*columnar.Cells) error { return nil })
					for range pages {
						if _, err := p.Add(b.Context(), format, bytes.NewReader(page)); err != nil {
							b.Fatal(err)
						}
					}
					if err := p.Each(b.Context(), 2, func(*columnar.Cells) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

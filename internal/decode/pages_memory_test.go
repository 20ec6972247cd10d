package decode

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// What is kept of a page does not grow with what is in it.
func TestPagesAreForgotten(t *testing.T) {
	const perPage = 2 << 10
	pages := decodetest.LongOr(200, 1000)
	var members, fields []string
	for i := range 50 {
		members = append(members, fmt.Sprintf(`"a_rather_long_name_%d":%d`, i, i))
		fields = append(fields, fmt.Sprintf("a rather long name %d", i))
	}
	record := "{" + strings.Join(members, ",") + "}"
	for _, test := range []struct {
		name, format, page string
		options            Options
	}{
		{"array", "json", "[" + record + "," + record + "]", Options{}},
		{"inside", "json", `{"data":[` + record + `],"next":"x"}`, Options{}},
		{"in memory", "json", `{"data":[` + record + `],"next":"x"}`, Options{Path: "$..data[*]"}},
		{"lines", "ndjson", record + "\n" + record, Options{}},
		{"table", "csv", strings.Join(fields, ",") + "\n" + strings.Repeat("1,", 49) + "1\n", Options{}},
		{"table in Windows-1252", "csv", strings.Join(fields, ",") + "\n" + strings.Repeat("\xe9,", 49) + "1\n", Options{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.Temp = t.TempDir()
			p := NewPages(test.options, func(*columnar.Cells) error { return nil })
			defer p.Close()
			add := func(n int) {
				for range n {
					if _, err := p.Add(t.Context(), test.format, bytes.NewReader([]byte(test.page))); err != nil {
						t.Fatal(err)
					}
				}
			}
			add(10)
			before := heap()
			add(pages)
			// The page itself is in memory here, as it is in no other place.
			if each := int(heap()-before)/pages - len(test.page); each > perPage {
				t.Errorf("%d bytes for each page", each)
			}
			runtime.KeepAlive(p)
		})
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	var stats runtime.MemStats
	// What is in a pool is gone after two collections.
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

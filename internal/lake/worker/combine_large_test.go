package worker_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
)

// keyed yields rows whose keys are those of keys.
func keyed(rows int, key func(row int) int) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		const step = 50_000
		for from := 0; from < rows; from += step {
			texts, numbers := columnar.Vector{Type: columnar.TypeText, Offsets: []uint32{0}}, columnar.Vector{Type: columnar.TypeInteger}
			for row := from; row < min(from+step, rows); row++ {
				texts.Bytes = fmt.Appendf(texts.Bytes, "the key of a row that is rather long: %0200d", key(row))
				texts.Offsets = append(texts.Offsets, uint32(len(texts.Bytes)))
				numbers.Ints = append(numbers.Ints, int64(key(row)))
			}
			texts.Len, numbers.Len = len(numbers.Ints), len(numbers.Ints)
			if !yield([]columnar.Vector{texts, numbers}, nil) {
				return
			}
		}
	}
}

// Keys that do not fit into the memory of a worker are merged on disk, and rows
// keep their order.
func TestMergingMoreThanMemory(t *testing.T) {
	const rows = 250_000
	r, store := reader(t, func(c *lake.PoolConfig) {
		c.Memory, c.Threads, c.Temp, c.TempBytes = 64<<20, 2, t.TempDir(), 4<<30
	})
	columns := []feedmill.Column{{ID: "c1", Name: "key", Type: columnar.TypeText}, {ID: "c2", Name: "n", Type: columnar.TypeInteger}}
	write := func(name string, rows int, key func(row int) int) *lake.Version {
		v, err := lake.Write(t.Context(), store, name, feedmill.TypedTable{Columns: columns, Runs: keyed(rows, key)})
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	// The new rows have every other key of the old ones, backwards, and half
	// of them twice.
	old := write("old", rows, func(row int) int { return row })
	fresh := write("new", rows*3/4, func(row int) int {
		if row < rows/4 {
			return 2 * row
		}
		return 2 * (rows*3/4 - 1 - row)
	})
	got, err := r.Combine(t.Context(), "merged", lake.Combination{Old: old, New: fresh, Columns: columns, Key: []string{"key"}})
	if err != nil {
		t.Fatal(err)
	}
	// None of them says anything new, so all stay where they were.
	if got.Rows != old.Rows || got.ContentHash != old.ContentHash {
		t.Errorf("%d rows, want %d, or others", got.Rows, old.Rows)
	}
	p := lake.NewPool(lake.PoolConfig{Args: []string{"feedmill", "worker"}, Memory: 64 << 20, Threads: 2})
	defer p.Close()
	_, err = lake.NewReader(store, p).Combine(t.Context(), "cramped", lake.Combination{Old: old, New: fresh, Columns: columns, Key: []string{"key"}})
	if !errors.Is(err, feedmill.ErrUnprocessable) || !strings.Contains(err.Error(), "too many or too long to merge") {
		t.Errorf("without room on disk: %v", err)
	}
}

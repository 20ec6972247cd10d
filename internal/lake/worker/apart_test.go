package worker_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

// A row that is larger than the memory of the database comes back in every format that holds it, between
// rows that are not, and through a filter.
func TestRowsLargerThanTheMemory(t *testing.T) {
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory, c.Process = 36<<20, 2*(36<<20+64<<20) })
	in := table{columns: []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}}}
	for i, name := range []string{"large", "Large", "other"} {
		in.columns = append(in.columns, feedmill.Column{ID: fmt.Sprintf("l%d", i), Name: name, Type: columnar.TypeText, Nullable: true})
	}
	const rows = 4
	var want [rows][]string
	for i := range rows {
		row := []cell{big.NewRat(int64(i), 1), fmt.Sprintf("short %d", i)}
		for c := range 3 {
			text := strings.Repeat(fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(c)})), 1+i%2*(8<<20/64))
			row, want[i] = append(row, text), append(want[i], text)
		}
		in.rows = append(in.rows, row)
	}
	in.rows[1][3], want[1][1] = nil, ""
	v := in.write(t, store, "giants")
	if v.Files[0].LargestRow < 20<<20 {
		t.Fatalf("the largest row has %d bytes", v.Files[0].LargestRow)
	}
	for _, format := range []wire.Format{wire.FormatNDJSON, wire.FormatJSON, wire.FormatCSV, wire.FormatArrow, wire.FormatParquet, wire.FormatXLSX} {
		out := read(t, r, v, feedmill.Query{}, format)
		switch format {
		case wire.FormatNDJSON, wire.FormatJSON, wire.FormatCSV:
			for i := range want {
				for c, text := range want[i] {
					if n := strings.Count(out, text); text != "" && n == 0 {
						t.Errorf("%s lacks column %d of row %d", format, c, i)
					}
				}
			}
			if size := 3 * 8 << 20 * 2; len(out) < size-12<<20 || len(out) > size {
				t.Errorf("%s has %d bytes", format, len(out))
			}
		case wire.FormatArrow:
			if got := textsOfArrow(t, out); !slices.Equal(got, []string{"short 0", "short 1", "short 2", "short 3"}) {
				t.Errorf("arrow has %q", got)
			}
			for i := range want {
				if !strings.Contains(out, want[i][2]) {
					t.Errorf("arrow lacks the last column of row %d", i)
				}
			}
		case wire.FormatParquet:
			if !strings.HasPrefix(out, "PAR1") || !strings.HasSuffix(out, "PAR1") {
				t.Error("no Parquet file")
			}
		}
	}
	one := feedmill.Query{Where: []feedmill.Condition{{Name: "id", Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: []feedmill.FilterValue{{Text: "3"}}}}}}}
	if out := read(t, r, v, one, wire.FormatNDJSON); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, `{"id":3,"text":"short 3",`) || !strings.Contains(out, want[3][2]) {
		t.Errorf("the filtered rows have %d bytes", len(out))
	}
}

// Rows of 10 MB become a Parquet file in the memory that a worker has on a machine of 512 MB. They
// cannot be compressed, so that every copy of a value has its size.
func TestLargeRowsAsParquet(t *testing.T) {
	const memory = 51 << 20
	r, store := reader(t, func(c *lake.PoolConfig) { c.Memory, c.Process = memory, 2*(memory+64<<20) })
	in := table{columns: []feedmill.Column{{ID: "c1", Name: "id", Type: columnar.TypeInteger}, {ID: "c2", Name: "text", Type: columnar.TypeText}}}
	random := rand.NewChaCha8([32]byte{1})
	for i := range 5 {
		text := make([]byte, 7_500_000)
		random.Read(text)
		in.rows = append(in.rows, []cell{big.NewRat(int64(i), 1), base64.StdEncoding.EncodeToString(text)})
	}
	v := in.write(t, store, "tens")
	times := 1
	if os.Getenv("FEEDMILL_LONG") != "" {
		times = 2
	}
	for range times {
		if out := read(t, r, v, feedmill.Query{}, wire.FormatParquet); len(out) < 5*7_500_000 || !strings.HasSuffix(out, "PAR1") {
			t.Errorf("the file has %d bytes", len(out))
		}
	}
}

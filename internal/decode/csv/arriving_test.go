package csv

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// arrivingTables are tables of some chunks. Those that are not early are left
// to be opened when they are there.
var arrivingTables = []struct {
	name, data string
	early      bool
}{
	{"plain", "a,b,c\n" + decodetest.Lines("%d,2,x\n", 3<<19), true},
	{"quotes", "a,b\n" + decodetest.Lines("%d,\"one\n\"\"two\"\", three\"\n", 2<<20), true},
	{"no end of the last line", "a,b\n" + decodetest.Lines("%d,\"x\ny\"\n", 3<<19) + "1,last", true},
	{"ends with a chunk", ("a,b\n" + decodetest.Lines("%07d,y\n", 2<<20))[:2<<20-1] + "\n", true},
	{"line ends of two characters", "a;b\r\n" + decodetest.Lines("%d;\"é\"\r\n", 3<<19), true},
	{"preamble and footer", "report\n\na\tb\tc\n" + decodetest.Lines("%d\t1\t2\n", 3<<19) + "\ntotal\n", true},
	{"blank lines at the end", "a,b\n" + decodetest.Lines("%d,1\n", 3<<19) + strings.Repeat("\n", 300), true},
	{"more blank lines than the rest", "a,b\n" + decodetest.Lines("%d,1\n", 1<<19) + strings.Repeat("\n", 2<<20), false},
	{"ragged", "a,b\n" + decodetest.Lines("%d,1\n2,3\n1,2,3\n4\n", 3<<19), true},
	{"a broken quote", "a,b\n" + decodetest.Lines("%d,1\n", 1<<20) + "1,\"x\"y\n" + decodetest.Lines("%d,\"2\"\n", 1<<20), true},
	{"an open quote", "a,b\n" + decodetest.Lines("%d,1\n", 1<<20) + "1,\"x\n" + decodetest.Lines("%d,2\n", 1<<20), false},
	{"no header", decodetest.Lines("%d,2026-01-01\n", 3<<19), true},
	{"a long record at the end", "a,b\n" + decodetest.Lines("%d,1\n", 1<<20) + "1,\"" + strings.Repeat("x\n", 400<<10) + "\"\n", false},
	{"escapes far in", "a,b\n" + decodetest.Lines("%d,1\n", 1<<20) + decodetest.Lines("%d,\"one \\\"two\\\" three\"\n", 1<<20), false},
	{"one column", "a\n" + decodetest.Lines("%d\n", 3<<19), false},
	{"not UTF-8", "a,b\n" + decodetest.Lines("%d,1\n", 1<<20) + "1,caf\xe9\n" + decodetest.Lines("%d,1\n", 1<<20), false},
	{"a mark", "\xef\xbb\xbfa,b\n" + decodetest.Lines("%d,1\n", 1<<20), false},
	{"small", "a,b\n1,2\n", false},
}

// A table that is read while it arrives is what it is once it is there.
func TestArrivingCSV(t *testing.T) {
	for _, test := range arrivingTables {
		t.Run(test.name, func(t *testing.T) {
			var want *Table
			var wanted [][]string
			if test.early {
				var err error
				if want, err = openCSV(t, test.data); err != nil {
					t.Fatal(err)
				}
				wanted = decodetest.Rows(t, want)
			}
			for _, part := range []int{100_003, 1 << 30} {
				src := decodetest.NewGrowing(test.data)
				defer src.Arrive(part)()
				c, err := OpenArriving(src, Options{})
				if err == nil {
					err = c.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
				}
				if test.early != (err == nil) || err != nil && !errors.Is(err, input.ErrArriving) && test.name != "an open quote" {
					t.Fatal(err)
				}
				if err == nil {
					sameTable(t, c, want, wanted)
				}
			}
		})
	}
}

// sameTable holds a table that was read against another and its rows.
func sameTable(t *testing.T, c, want *Table, wanted [][]string) {
	t.Helper()
	if got := decodetest.Rows(t, c); !slices.EqualFunc(got, wanted, slices.Equal) {
		t.Errorf("other rows: %d of %d", len(got), len(wanted))
	}
	warned, err := want.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Warnings(); err != nil || !cmp.Equal(got, warned) {
		t.Errorf("warned of %v, want %v, %v", got, warned, err)
	}
	if diff := cmp.Diff(want.Names(), c.Names()); diff != "" || c.Dialect != want.Dialect {
		t.Errorf("%v, want %v: %s", c.Dialect, want.Dialect, diff)
	}
	if diff := cmp.Diff(want.blocks, c.blocks, cmp.AllowUnexported(blockRange{})); diff != "" {
		t.Errorf("other blocks (-want +got):\n%s", diff)
	}
}

// The rows of an arriving table are given once each, from the first reading on.
func TestArrivingRows(t *testing.T) {
	for _, test := range arrivingTables[:4] {
		src := decodetest.NewGrowing(test.data)
		wait := src.Arrive(300_000)
		c, err := OpenArriving(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := decodetest.Rows(t, c)
		wait()
		if again := decodetest.Rows(t, c); !slices.EqualFunc(again, first, slices.Equal) {
			t.Errorf("%s: the second reading differs", test.name)
		}
	}
}

func TestArrivalThatBreaksOff(t *testing.T) {
	src := decodetest.NewGrowing("a,b\n" + decodetest.Lines("%d,1\n", 6<<20))
	src.Grow(4 << 20)
	table, err := OpenArriving(src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	err = table.Each(t.Context(), 2, func(*columnar.Cells) error {
		once.Do(func() { src.Fail(io.ErrUnexpectedEOF) })
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := OpenArriving(src, Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("opened again: %v", err)
	}
}

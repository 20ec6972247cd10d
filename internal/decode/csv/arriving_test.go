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

// arrivingTable is a table of some chunks. One that is not early is left to be
// opened when it is there.
type arrivingTable struct {
	name, data string
	early      bool
}

// arrivingTables are tables for chunks of so many bytes.
func arrivingTables(chunk int) []arrivingTable {
	lines := func(format string, halves int) string { return decodetest.Lines(format, halves*chunk/2) }
	return []arrivingTable{
		{"plain", "a,b,c\n" + lines("%d,2,x\n", 6), true},
		{"quotes", "a,b\n" + lines("%d,\"one\n\"\"two\"\", three\"\n", 8), true},
		{"no end of the last line", "a,b\n" + lines("%d,\"x\ny\"\n", 6) + "1,last", true},
		{"ends with a chunk", ("a,b\n" + lines("%07d,y\n", 8))[:4*chunk-1] + "\n", true},
		{"line ends of two characters", "a;b\r\n" + lines("%d;\"é\"\r\n", 6), true},
		{"preamble and footer", "report\n\na\tb\tc\n" + lines("%d\t1\t2\n", 6) + "\ntotal\n", true},
		{"blank lines at the end", "a,b\n" + lines("%d,1\n", 6) + strings.Repeat("\n", 300), true},
		{"more blank lines than the rest", "a,b\n" + lines("%d,1\n", 2) + strings.Repeat("\n", 4*chunk), false},
		{"ragged", "a,b\n" + lines("%d,1\n2,3\n1,2,3\n4\n", 6), true},
		{"a broken quote", "a,b\n" + lines("%d,1\n", 4) + "1,\"x\"y\n" + lines("%d,\"2\"\n", 4), true},
		{"an open quote", "a,b\n" + lines("%d,1\n", 4) + "1,\"x\n" + lines("%d,2\n", 4), false},
		{"no header", lines("%d,2026-01-01\n", 6), true},
		{"a long record at the end", "a,b\n" + lines("%d,1\n", 4) + "1,\"" + strings.Repeat("x\n", chunk*4/5) + "\"\n", false},
		{"escapes far in", "a,b\n" + lines("%d,1\n", 4) + lines("%d,\"one \\\"two\\\" three\"\n", 4), false},
		{"one column", "a\n" + lines("%d\n", 6), false},
		{"not UTF-8", "a,b\n" + lines("%d,1\n", 4) + "1,caf\xe9\n" + lines("%d,1\n", 4), false},
		{"a mark", "\xef\xbb\xbfa,b\n" + lines("%d,1\n", 4), false},
		{"small", "a,b\n1,2\n", false},
	}
}

// A table that is read while it arrives is what it is once it is there.
func TestArrivingCSV(t *testing.T) {
	t.Run("small", func(t *testing.T) { testArriving(t, &small) })
	if decodetest.Long() {
		t.Run("usual", func(t *testing.T) { testArriving(t, &usual) })
	}
}

func testArriving(t *testing.T, limits *limits) {
	options := Options{limits: limits}
	for _, test := range arrivingTables(int(limits.chunk)) {
		t.Run(test.name, func(t *testing.T) {
			var want *Table
			var wanted [][]string
			if test.early {
				var err error
				if want, err = openCSV(t, test.data, options); err != nil {
					t.Fatal(err)
				}
				wanted = decodetest.Rows(t, want)
			}
			for _, part := range []int{int(limits.chunk)/5 - 1, 1 << 30} {
				src := decodetest.NewGrowing(test.data)
				defer src.Arrive(part)()
				c, err := OpenArriving(src, options)
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
	for _, test := range arrivingTables(int(small.chunk))[:4] {
		src := decodetest.NewGrowing(test.data)
		wait := src.Arrive(9_000)
		c, err := OpenArriving(src, Options{limits: &small})
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
	src := decodetest.NewGrowing("a,b\n" + decodetest.Lines("%d,1\n", 6<<15))
	src.Grow(4 << 15)
	table, err := OpenArriving(src, Options{limits: &small})
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
	if _, err := OpenArriving(src, Options{limits: &small}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("opened again: %v", err)
	}
}

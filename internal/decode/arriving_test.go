package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill/internal/columnar"
)

// growing is a source that has more with each call of grow.
type growing struct {
	mu    sync.Mutex
	moved sync.Cond
	data  []byte
	there int
	fault error
}

func newGrowing(data string) *growing {
	g := &growing{data: []byte(data)}
	g.moved.L = &g.mu
	return g
}

func (g *growing) grow(by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.there = min(len(g.data), g.there+by)
	g.moved.Broadcast()
}

func (g *growing) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = err
	g.moved.Broadcast()
}

func (g *growing) Size() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int64(g.there)
}

func (g *growing) ReadAt(p []byte, offset int64) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return bytes.NewReader(g.data[:g.there]).ReadAt(p, offset)
}

func (g *growing) Await(size int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for int64(g.there) < size && g.there < len(g.data) && g.fault == nil {
		g.moved.Wait()
	}
	return g.fault
}

// arrive lets all of it arrive in parts, one as soon as the last was looked at.
func (g *growing) arrive(part int) (wait func()) {
	var arriving sync.WaitGroup
	arriving.Go(func() {
		for g.Size() < int64(len(g.data)) {
			g.grow(part)
		}
	})
	return arriving.Wait
}

// lines repeats a line with numbers until there are so many bytes.
func lines(format string, size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// arrivingTables are tables of some chunks. Those that are not early are left
// to be opened when they are there.
var arrivingTables = []struct {
	name, data string
	early      bool
}{
	{"plain", "a,b,c\n" + lines("%d,2,x\n", 3<<19), true},
	{"quotes", "a,b\n" + lines("%d,\"one\n\"\"two\"\", three\"\n", 2<<20), true},
	{"no end of the last line", "a,b\n" + lines("%d,\"x\ny\"\n", 3<<19) + "1,last", true},
	{"ends with a chunk", ("a,b\n" + lines("%07d,y\n", 2<<20))[:2<<20-1] + "\n", true},
	{"line ends of two characters", "a;b\r\n" + lines("%d;\"é\"\r\n", 3<<19), true},
	{"preamble and footer", "report\n\na\tb\tc\n" + lines("%d\t1\t2\n", 3<<19) + "\ntotal\n", true},
	{"blank lines at the end", "a,b\n" + lines("%d,1\n", 3<<19) + strings.Repeat("\n", 300), true},
	{"more blank lines than the rest", "a,b\n" + lines("%d,1\n", 1<<19) + strings.Repeat("\n", 2<<20), false},
	{"ragged", "a,b\n" + lines("%d,1\n2,3\n1,2,3\n4\n", 3<<19), true},
	{"a broken quote", "a,b\n" + lines("%d,1\n", 1<<20) + "1,\"x\"y\n" + lines("%d,\"2\"\n", 1<<20), true},
	{"an open quote", "a,b\n" + lines("%d,1\n", 1<<20) + "1,\"x\n" + lines("%d,2\n", 1<<20), false},
	{"no header", lines("%d,2026-01-01\n", 3<<19), true},
	{"a long record at the end", "a,b\n" + lines("%d,1\n", 1<<20) + "1,\"" + strings.Repeat("x\n", 400<<10) + "\"\n", false},
	{"escapes far in", "a,b\n" + lines("%d,1\n", 1<<20) + lines("%d,\"one \\\"two\\\" three\"\n", 1<<20), false},
	{"one column", "a\n" + lines("%d\n", 3<<19), false},
	{"not UTF-8", "a,b\n" + lines("%d,1\n", 1<<20) + "1,caf\xe9\n" + lines("%d,1\n", 1<<20), false},
	{"a mark", "\xef\xbb\xbfa,b\n" + lines("%d,1\n", 1<<20), false},
	{"small", "a,b\n1,2\n", false},
}

// A table that is read while it arrives is what it is once it is there.
func TestArrivingCSV(t *testing.T) {
	for _, test := range arrivingTables {
		t.Run(test.name, func(t *testing.T) {
			var want *CSV
			var wanted [][]string
			if test.early {
				var err error
				if want, err = openCSV(t, test.data); err != nil {
					t.Fatal(err)
				}
				wanted = readRows(t, want)
			}
			for _, part := range []int{100_003, 1 << 30} {
				src := newGrowing(test.data)
				defer src.arrive(part)()
				c, err := OpenArrivingCSV(src, CSVOptions{})
				if err == nil {
					err = c.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
				}
				if test.early != (err == nil) || err != nil && !errors.Is(err, ErrArriving) && test.name != "an open quote" {
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
func sameTable(t *testing.T, c, want *CSV, wanted [][]string) {
	t.Helper()
	if got := readRows(t, c); !slices.EqualFunc(got, wanted, slices.Equal) {
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
	if diff := cmp.Diff(want.blocks, c.blocks, cmp.AllowUnexported(csvRange{})); diff != "" {
		t.Errorf("other blocks (-want +got):\n%s", diff)
	}
}

// The rows of an arriving table are given once each, from the first reading on.
func TestArrivingRows(t *testing.T) {
	for _, test := range arrivingTables[:4] {
		src := newGrowing(test.data)
		wait := src.arrive(300_000)
		c, err := OpenArrivingCSV(src, CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		first := readRows(t, c)
		wait()
		if again := readRows(t, c); !slices.EqualFunc(again, first, slices.Equal) {
			t.Errorf("%s: the second reading differs", test.name)
		}
	}
}

func TestArrivingNDJSON(t *testing.T) {
	data := lines("{\"a\":%d,\"b\":\"é\"}\n", 4<<20) + `{"c":1}`
	want, err := OpenNDJSON(t.Context(), strings.NewReader(data), JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := readRows(t, want)
	for _, part := range []int{1 << 17, 1_000_003} {
		src := newGrowing(data)
		wait := src.arrive(part)
		got, err := OpenNDJSON(t.Context(), src, JSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if rows := readRows(t, got); !slices.EqualFunc(rows, wanted, slices.Equal) {
			t.Errorf("in parts of %d: %d rows of %d", part, len(rows), len(wanted))
		}
		wait()
		if !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("in parts of %d: columns %q", part, got.Names())
		}
	}
}

func TestArrivalThatBreaksOff(t *testing.T) {
	for name, open := range map[string]func(*growing) (openTable, error){
		"csv":    func(g *growing) (openTable, error) { return OpenArrivingCSV(g, CSVOptions{}) },
		"ndjson": func(g *growing) (openTable, error) { return OpenNDJSON(t.Context(), g, JSONOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			src := newGrowing("a,b\n" + lines("%d,1\n", 6<<20))
			if name == "ndjson" {
				src = newGrowing(lines("{\"a\":%d}\n", 6<<20))
			}
			src.grow(4 << 20)
			table, err := open(src)
			if err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			err = table.Each(t.Context(), 2, func(*columnar.Cells) error {
				once.Do(func() { src.fail(io.ErrUnexpectedEOF) })
				return nil
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error(err)
			}
			if _, err := open(src); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

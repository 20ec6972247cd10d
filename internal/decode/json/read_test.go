package json

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

func TestJSONBlocksAreReadAgain(t *testing.T) {
	lines := decodetest.Records(64<<10, "\n")
	array := append(append([]byte(`{"data":[`), decodetest.Records(64<<10, ",")...), "]}"...)
	for _, test := range []struct {
		name    string
		open    jsonOpener
		data    []byte
		options Options
	}{
		{"lines", OpenLines, lines, Options{}},
		{"selected in lines", OpenLines, lines, Options{Path: "$.*"}},
		{"document", Open, array, Options{}},
		{"in memory", Open, array, Options{Path: "$..data[*]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.options.blockBytes = 4 << 10
			j, err := test.open(t.Context(), bytes.NewReader(test.data), test.options)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := readJSONRows(t, j, 2)
			if err != nil {
				t.Fatal(err)
			}
			if j.Blocks() < 10 || j.blockFirst(0) != 0 || j.blockFirst(j.Blocks()) != int64(len(rows)) {
				t.Fatalf("%d blocks from row %d to %d", j.Blocks(), j.blockFirst(0), j.blockFirst(j.Blocks()))
			}
			want := renderRows(rows, len(j.Names()))
			for _, part := range [][2]int{{3, 4}, {5, 9}, {0, j.Blocks()}, {j.Blocks() - 1, j.Blocks()}, {2, 2}} {
				next := j.blockFirst(part[0])
				err := j.Read(t.Context(), part[0], part[1], func(cells *columnar.Cells) error {
					for i := range cells.Rows {
						row := numberedRow{number: cells.First + int64(i)}
						for column := range cells.Columns {
							row.cells = append(row.cells, renderCell(cells, cells.At(i, column)))
						}
						if got := renderRows([]numberedRow{row}, len(j.Names()))[0]; row.number != next || got != want[next] {
							t.Errorf("row %d is %s, want row %d %s", row.number, got, next, want[next])
						}
						next++
					}
					return nil
				})
				if err != nil || next != j.blockFirst(part[1]) {
					t.Errorf("blocks %v end at row %d, want %d, error %v", part, next, j.blockFirst(part[1]), err)
				}
			}
		})
	}
}

// brokenSource fails where it is read behind an offset.
type brokenSource struct {
	*bytes.Reader
	from int64
}

var errBroken = errors.New("broken")

func (s *brokenSource) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > s.from {
		return 0, errBroken
	}
	return s.Reader.ReadAt(p, offset)
}

func TestJSONReadErrors(t *testing.T) {
	lines := decodetest.Records(64<<10, "\n")
	array := append(append([]byte(`{"data":[`), decodetest.Records(64<<10, ",")...), "]}"...)
	for _, test := range []struct {
		open    jsonOpener
		data    []byte
		options Options
	}{
		{OpenLines, lines, Options{}},
		{Open, lines, Options{}},
		{Open, array, Options{}},
		{Open, array, Options{Path: "$.data[*]"}},
		{Open, array, Options{Path: "$..data[*]"}},
	} {
		for _, from := range []int64{0, 100, 10 << 10, 60 << 10} {
			test.options.blockBytes, test.options.readBytes = 4<<10, 1<<10
			j, err := test.open(t.Context(), &brokenSource{bytes.NewReader(test.data), from}, test.options)
			if err == nil {
				err = j.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
			}
			if !errors.Is(err, errBroken) {
				t.Errorf("broken from %d on, with path %q: error %v", from, test.options.Path, err)
			}
		}
	}
}

// TestJSONChangedData reads data again that is not what it was.
func TestJSONChangedData(t *testing.T) {
	for _, test := range []struct{ format, data, changed string }{
		{"ndjson", "{\"a\":1}\n", "{\"b\":1}\n"},
		{"ndjson", "1\n2\n", "1\n 2 "},
		{"ndjson", "1\n2\n", "1\n \n "},
		{"json", "[1,2]", "[112]"},
		{"json", "[1,2]", "[   ]"},
	} {
		data := []byte(test.data)
		j, err := openerOf(test.format)(t.Context(), bytes.NewReader(data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readJSONRows(t, j, 1); err != nil {
			t.Fatal(err)
		}
		copy(data, test.changed)
		err = j.Each(t.Context(), 1, func(*columnar.Cells) error { return nil })
		if same := test.changed == "1\n 2 "; errors.Is(err, input.ErrChanged) == same {
			t.Errorf("%q after %q: error %v", test.changed, test.data, err)
		}
	}
}

func TestJSONIsInterrupted(t *testing.T) {
	array := append(append([]byte(`{"data":[`), decodetest.Records(64<<10, ",")...), "]}"...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"", "$.data[*]"} {
		if _, err := Open(ctx, bytes.NewReader(array), Options{Path: path}); !errors.Is(err, context.Canceled) {
			t.Errorf("with path %q: error %v", path, err)
		}
	}
}

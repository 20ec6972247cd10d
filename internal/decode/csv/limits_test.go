package csv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// readAll reads a table and forgets its cells.
func readAll(t *testing.T, data string, options Options) (*Table, error) {
	t.Helper()
	c, err := openCSV(t, data, options)
	if err != nil {
		return nil, err
	}
	return c, c.Each(t.Context(), 2, func(*columnar.Cells) error { return nil })
}

func TestCSVLimits(t *testing.T) {
	names := func(n int) string { return strings.Repeat("c,", n-1) + "c\n" }
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct {
		name, within, beyond, problem, detail string
	}{
		{
			"columns", names(input.MaxColumns) + strings.Repeat("1,", input.MaxColumns-1) + "1\n", names(input.MaxColumns + 1),
			"too-many-columns", "10001 fields",
		},
		{
			"fields of the first record", names(2) + strings.Repeat("1,", 99) + "1\n", strings.Repeat("1,", 8<<20),
			"too-many-columns", "more than 10256 fields",
		},
		{
			"fields of a later record", names(2), names(2) + "1,2\n" + strings.Repeat("1,", 8<<20),
			"too-many-fields", "line 3, column 1 (byte 8)",
		},
		{
			"extra columns", "a,b\n1,2\n" + strings.Repeat("1,", maxExtraColumns+1) + "1\n", "a,b\n1,2\n" + strings.Repeat("1,", maxExtraColumns+2) + "1\n",
			"too-many-fields", "line 2, column 1 (byte 4)",
		},
		{
			"plain field", "a,b\n1," + long(input.MaxFieldBytes) + "\n", "a,b\n1," + long(input.MaxFieldBytes+1) + "\n",
			"field-too-long", "line 2, column 3 (byte 6)",
		},
		{
			"quoted field", "a,b\n1,\"" + long(input.MaxFieldBytes-2) + "\"\n", "a,b\n1,\"" + long(input.MaxFieldBytes+1) + "\"\n",
			"field-too-long", "line 2, column 3 (byte 6)",
		},
		{
			"record", "a,b,c,d\n" + long(8<<20) + "," + long(8<<20) + "," + long(8<<20) + ",\n",
			"a,b,c,d\n1,2,3,4\n" + long(12<<20) + "," + long(12<<20) + "," + long(12<<20) + ",\n",
			"record-too-long", "line 3, column 1 (byte 16)",
		},
		{
			"missing fields", names(input.MaxColumns) + strings.Repeat("1\n", 300), names(input.MaxColumns) + strings.Repeat("1\n", 900),
			"too-few-fields", "line 2",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := usual
			limits.missing = 1 << 22
			options := Options{limits: &limits}
			if test.name == "missing fields" {
				c, err := openCSV(t, test.within, options)
				if err != nil {
					t.Fatal(err)
				}
				// Cells that are missing take no more memory than a run may.
				err = c.Each(t.Context(), 1, func(cells *columnar.Cells) error {
					if len(cells.Cell) > maxRunCells {
						return fmt.Errorf("a run has %d cells", len(cells.Cell))
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			} else if _, err := readAll(t, test.within, options); err != nil {
				t.Errorf("within the limit: %v", err)
			}
			_, err := readAll(t, test.beyond, options)
			refusal, ok := errors.AsType[*feedmill.Error](err)
			if !ok || refusal.Kind != feedmill.ErrUnprocessable || refusal.Type != test.problem || !strings.Contains(refusal.Detail, test.detail) {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
}

// A quote that is never closed costs no more than the search for its end.
func TestCSVUnclosedQuoteInLongFile(t *testing.T) {
	lines := strings.Repeat("1,x\n", 1<<18)
	c, err := readAll(t, "a,b\n0,\"open\n"+lines, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows() != 1<<18+1 || c.broken.count != 1 {
		t.Errorf("%d rows, %+v", c.Rows(), c.broken)
	}
}

// A well-formed file is never read by the slower scanner, wherever the ends
// of chunks fall.
func TestCSVStaysFast(t *testing.T) {
	const lines = 200
	for chunk := int64(8); chunk < 200; chunk++ {
		data := "a,b,c\n" + strings.Repeat("1,\"q, \"\"r\"\"\n s\",\"\"\r\n", lines)
		c, err := openChunks(t, data, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Each(t.Context(), 3, func(*columnar.Cells) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, block := range c.blocks {
			if block.tolerant {
				t.Fatalf("chunks of %d: the block at %d is not well formed", chunk, block.start)
			}
		}
		if c.Rows() != lines || c.Blocks() < 2 {
			t.Fatalf("chunks of %d: %d rows in %d blocks", chunk, c.Rows(), c.Blocks())
		}
	}
}

func TestCSVStops(t *testing.T) {
	const lines = 10_000
	c, err := openChunks(t, "a,b\n"+strings.Repeat("1,2\n", lines), 1000)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if err := c.Each(t.Context(), 3, func(*columnar.Cells) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = c.Each(ctx, 3, func(*columnar.Cells) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// A reading that was cut short leaves nothing behind.
	if rows := decodetest.Rows(t, c); len(rows) != lines {
		t.Errorf("%d rows", len(rows))
	}
}

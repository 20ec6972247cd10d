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

// small are limits that make short tables long.
var small = scaledLimits(32)

// scaledLimits are the usual limits, so many times smaller.
func scaledLimits(by int64) limits {
	return limits{
		field: usual.field / by, record: usual.record / by, missing: 1 << 22,
		chunk: usual.chunk / by, head: usual.head / by, farHead: usual.farHead / by, tail: usual.tail / by,
	}
}

// limitCase has a table that just fits a limit, and one that does not.
type limitCase struct {
	name, within, beyond, problem, detail string
	limits                                *limits
}

// limitCases are those of the limits that can be other than usual.
func limitCases(l *limits) []limitCase {
	long := func(n int64) string { return strings.Repeat("x", int(n)) }
	third := l.record / 8 * 3
	return []limitCase{
		{
			"plain field", "a,b\n1," + long(l.field) + "\n", "a,b\n1," + long(l.field+1) + "\n",
			"field-too-long", "line 2, column 3 (byte 6)", l,
		},
		{
			"quoted field", "a,b\n1,\"" + long(l.field-2) + "\"\n", "a,b\n1,\"" + long(l.field+1) + "\"\n",
			"field-too-long", "line 2, column 3 (byte 6)", l,
		},
		{
			"record", "a,b,c,d\n" + long(l.record/4) + "," + long(l.record/4) + "," + long(l.record/4) + ",\n",
			"a,b,c,d\n1,2,3,4\n" + long(third) + "," + long(third) + "," + long(third) + ",\n",
			"record-too-long", "line 3, column 1 (byte 16)", l,
		},
	}
}

func TestCSVLimits(t *testing.T) {
	names := func(n int) string { return strings.Repeat("c,", n-1) + "c\n" }
	fewMissing := usual
	fewMissing.missing = 1 << 22
	cases := append(limitCases(&small), []limitCase{
		{
			"lines in quotes", strings.Repeat("\"a,b,c\"\n\"1,2,3\"\n", 1000), strings.Repeat("\"1,2,3\"\n", 2000) + "\"" + strings.Repeat("x", int(3*small.record)) + "\"\n",
			"record-too-long", "line 2001 is longer", &small,
		},
		{
			"columns", names(input.MaxColumns) + strings.Repeat("1,", input.MaxColumns-1) + "1\n", names(input.MaxColumns + 1),
			"too-many-columns", "more than 10000 fields", &usual,
		},
		{
			"fields of the first record", names(2) + strings.Repeat("1,", 99) + "1\n", strings.Repeat("1,", 1<<17),
			"too-many-columns", "more than 10000 fields", &usual,
		},
		{
			"fields of a later record", names(2), names(2) + "1,2\n" + strings.Repeat("1,", maxRunCells+1),
			"too-many-fields", "line 3, column 1 (byte 8)", &usual,
		},
		{
			"extra columns", "a,b\n1,2\n" + strings.Repeat("1,", maxFields-1) + "1\n", "a,b\n1,2\n" + strings.Repeat("1,", maxFields) + "1\n",
			"too-many-fields", "line 3, column 1 (byte 8)", &usual,
		},
		{
			"missing fields", names(input.MaxColumns) + strings.Repeat("1\n", 300), names(input.MaxColumns) + strings.Repeat("1\n", 900),
			"too-few-fields", "line 2", &fewMissing,
		},
	}...)
	if decodetest.Long() {
		cases = append(cases, limitCases(&usual)...)
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			options := Options{limits: test.limits}
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
				t.Errorf("within the limit: %v", err)
			}
			_, err = readAll(t, test.beyond, options)
			refusal, ok := errors.AsType[*feedmill.Error](err)
			if !ok || refusal.Kind != feedmill.ErrUnprocessable || refusal.Type != test.problem || !strings.Contains(refusal.Detail, test.detail) {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
}

// The usual limits are what the refusals of the API say.
func TestUsualLimits(t *testing.T) {
	want := limits{field: 16 << 20, record: 64 << 20, missing: 1 << 25, chunk: 512 << 10, head: 256 << 10, farHead: 4 << 20, tail: 64 << 10}
	if usual != want {
		t.Errorf("%+v, want %+v", usual, want)
	}
}

// A quote that is never closed costs no more than the search for its end.
func TestCSVUnclosedQuoteInLongFile(t *testing.T) {
	lines := strings.Repeat("1,x\n", 1<<16)
	c, err := readAll(t, "a,b\n0,\"open\n"+lines, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows() != 1<<16+1 || c.broken.count != 1 {
		t.Errorf("%d rows, %+v", c.Rows(), c.broken)
	}
}

// A well-formed file is never read by the slower scanner, wherever the ends
// of chunks fall.
func TestCSVStaysFast(t *testing.T) {
	const lines = 200
	for chunk := int64(8); chunk < 200; chunk += 3 {
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

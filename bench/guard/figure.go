package main

import (
	"context"
	"slices"
	"time"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// figure is work that both programs do in turns.
type figure struct {
	// name begins with the group.
	name string
	// rows is what a round measures.
	rows []row
	// store is sqlite or postgres; empty means sqlite.
	store string
	// settle is how long to wait between the first round, which is not counted, and the next.
	settle time.Duration
	// open prepares a side and returns its round.
	open func(context.Context, *guard, *side) (round, error)
}

// round does the work once and returns a sample for each row.
type round func(context.Context) ([]sample, error)

// row is a line of the table.
type row struct {
	// name is that of the row within its figure; empty where there is only one.
	name string
	// measure is what is compared, such as "CPU per MB".
	measure string
	// memory says that values are bytes; otherwise they are nanoseconds.
	memory bool
}

// sample is what a row measured in a round.
type sample struct {
	// value is in nanoseconds or bytes, for each unit.
	value float64
	// clock is how many nanoseconds a unit took; zero where the row shows no clock.
	clock float64
}

// perUnit is a figure's only sample: what each of n units cost and how long it took.
func perUnit(cpu, clock time.Duration, n float64) []sample {
	return []sample{{float64(cpu) / n, float64(clock) / n}}
}

// groups are what names of figures begin with, in the order of the table.
var groups = []string{"uploads", "formats", "exports", "pages", "refresh", "deliveries", "latency", "memory"}

func allFigures() []figure {
	return slices.Concat(uploadFigures(), formatFigures(), exportFigures(), pageFigures(), refreshFigures(), deliveryFigures(), latencyFigures(), memoryFigures())
}

// chosenFigures are those that -rows selects.
func chosenFigures(rows string) []figure {
	return slices.DeleteFunc(allFigures(), func(f figure) bool { return !rig.Chosen(rows, f.name) })
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/feedmill/feedmill/client"
)

// pairs are the values and clocks of both sides.
type pairs struct{ values, clocks [2][]float64 }

func (p *pairs) add(side int, s sample) {
	p.values[side] = append(p.values[side], s.value)
	p.clocks[side] = append(p.clocks[side], s.clock)
}

// result is a finished line of the table.
type result struct {
	row
	comparison
	// clock is the median ratio of the clocks; zero where the row has none.
	clock float64
	// skipped is why the base cannot do the work; empty where it can.
	skipped string
}

func (f figure) rowName(r row) string {
	if r.name == "" {
		return f.name
	}
	return f.name + ", " + r.name
}

// results compares the samples of a figure's rows.
func (f figure) results(taken []pairs) ([]result, error) {
	var results []result
	for i, r := range f.rows {
		values, err := pair(taken[i].values[0], taken[i].values[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.rowName(r), err)
		}
		done := result{row: r, comparison: values}
		done.name = f.rowName(r)
		if taken[i].clocks[0][0] > 0 {
			clocks, err := pair(taken[i].clocks[0], taken[i].clocks[1])
			if err != nil {
				return nil, fmt.Errorf("%s: clock: %w", f.rowName(r), err)
			}
			done.clock = clocks.ratio
		}
		results = append(results, done)
	}
	return results, nil
}

// skip are the results of a figure that the base refused.
func (f figure) skip(refusal *client.Problem) []result {
	var results []result
	for _, r := range f.rows {
		r.name = f.rowName(r)
		why := refusal.Detail
		if len(refusal.Errors) > 0 {
			why = refusal.Errors[0].Detail
		}
		results = append(results, result{row: r, skipped: fmt.Sprintf("skipped: the base returns %d: %s", refusal.Status, why)})
	}
	return results
}

const lineFormat = "| %-54s | %-16s | %9s | %9s | %6s | %-13s | %-13s | %5s |\n"

func printHeader(w io.Writer) {
	fmt.Fprintln(w)
	fmt.Fprintf(w, lineFormat, "row", "measure", "base", "now", "ratio", "95 % interval", "verdict", "clock")
	fmt.Fprintln(w, "|---|---|---:|---:|---:|---|---|---:|")
}

func (r result) print(w io.Writer) {
	if r.skipped != "" {
		fmt.Fprintf(w, lineFormat, r.name, r.measure, "", "", "", "", oneCell(r.skipped), "")
		return
	}
	clock := ""
	if r.clock > 0 {
		clock = fmt.Sprintf("%.2f", r.clock)
	}
	fmt.Fprintf(w, lineFormat, r.name, r.measure, r.format(r.base), r.format(r.tree), fmt.Sprintf("%.3f", r.ratio),
		fmt.Sprintf("%.2f to %.2f", r.low, r.high), r.word(), clock)
}

// oneCell is a text that does not break the table.
func oneCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// word is the verdict as a reader of the row expects it.
func (r result) word() string {
	v := r.verdict()
	switch {
	case r.memory && v == slower:
		return "more"
	case r.memory && v == faster:
		return "less"
	case r.unclear():
		return "same (noisy)"
	}
	return string(v)
}

// format writes a value with three digits and a unit.
func (r result) format(value float64) string {
	units := []struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}, {1, "ns"}}
	if r.memory {
		return fmt.Sprintf("%.0f MB", value/1e6)
	}
	for _, u := range units {
		if value >= u.size {
			return fmt.Sprintf("%.3g %s", value/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", value)
}

// printSummary lists the rows that changed.
func printSummary(w io.Writer, results []result, rounds int, took time.Duration) {
	names := make(map[string][]string)
	for _, r := range results {
		key := "skipped"
		if r.skipped == "" {
			key = r.word()
		}
		names[key] = append(names[key], r.name)
	}
	fmt.Fprintf(w, "\n%d rows of %d rounds in %v\n", len(results), rounds, took.Round(time.Second))
	for _, key := range []string{string(slower), "more", string(faster), "less", string(same), "same (noisy)", "skipped"} {
		if list := names[key]; len(list) > 0 {
			fmt.Fprintf(w, "- %s: %d (%s)\n", key, len(list), strings.Join(list, "; "))
		}
	}
}

package ui

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
)

// plot is a small picture of numbers over time, drawn here so that it is there without
// scripts, with the numbers behind it as a table.
type plot struct {
	Title, Unit string
	// Bars are drawn as bars, and all other series as lines.
	Bars bool
	// Near lets the axis begin where the values do.
	Near   bool
	Series []plotSeries
	At     []time.Time
}

// plotSeries is one series, in a class of colours: bar, bad, quiet or line. A value that is
// not a number is of a time of which nothing is known.
type plotSeries struct {
	Name, Class string
	Values      []float64
}

// plotBuckets is how many points a plot shows; more are averaged.
const plotBuckets = 72

// thinned is the plot with at most plotBuckets points.
func (p plot) thinned() plot {
	if len(p.At) <= plotBuckets {
		return p
	}
	size := (len(p.At) + plotBuckets - 1) / plotBuckets
	thin := plot{Title: p.Title, Unit: p.Unit, Bars: p.Bars, Near: p.Near, Series: make([]plotSeries, len(p.Series))}
	for i := 0; i < len(p.At); i += size {
		thin.At = append(thin.At, p.At[i])
	}
	for k, s := range p.Series {
		thin.Series[k] = plotSeries{Name: s.Name, Class: s.Class}
		for i := 0; i < len(s.Values); i += size {
			sum, known := 0.0, 0
			for _, value := range s.Values[i:min(i+size, len(s.Values))] {
				if !math.IsNaN(value) {
					sum, known = sum+value, known+1
				}
			}
			thin.Series[k].Values = append(thin.Series[k].Values, sum/float64(known)) // not a number where none is known
		}
	}
	return thin
}

// Newest is the last value of a series that is known, in words.
func (s plotSeries) Newest() string {
	for _, value := range slices.Backward(s.Values) {
		if !math.IsNaN(value) {
			return amount(value)
		}
	}
	return "–"
}

// path is the line of a series. Where values are not known it is broken, and a value that
// stands alone is a short line, which can be seen.
func (s plotSeries) path(y func(float64) float64) string {
	var line strings.Builder
	step := plotWidth / float64(max(len(s.Values)-1, 1))
	known := func(i int) bool { return i >= 0 && i < len(s.Values) && !math.IsNaN(s.Values[i]) }
	for i, value := range s.Values {
		x := step * float64(i)
		switch {
		case !known(i):
		case known(i - 1):
			fmt.Fprintf(&line, "L%.1f %.1f", x, y(value))
		case known(i + 1):
			fmt.Fprintf(&line, "M%.1f %.1f", x, y(value))
		default:
			fmt.Fprintf(&line, "M%.1f %.1fL%.1f %.1f", max(x-step/2, 0), y(value), min(x+step/2, plotWidth), y(value))
		}
	}
	return line.String()
}

// area is what lies between the line of a series and the base.
func (s plotSeries) area(y func(float64) float64) string {
	var shape strings.Builder
	step, from := plotWidth/float64(max(len(s.Values)-1, 1)), -1
	for i := range len(s.Values) + 1 {
		switch known := i < len(s.Values) && !math.IsNaN(s.Values[i]); {
		case known && from < 0:
			from = i
			fmt.Fprintf(&shape, "M%.1f %.1fL%.1f %.1f", step*float64(i), y(0), step*float64(i), y(s.Values[i]))
		case known:
			fmt.Fprintf(&shape, "L%.1f %.1f", step*float64(i), y(s.Values[i]))
		case from >= 0:
			from = -1
			fmt.Fprintf(&shape, "L%.1f %.1fZ", step*float64(i-1), y(0))
		}
	}
	return shape.String()
}

// amount writes a number of whatever size.
func amount(value float64) string {
	if math.IsNaN(value) {
		return "–"
	}
	if value >= 100 || value == math.Trunc(value) {
		return number(int64(math.Round(value)))
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", value), "0"), ".")
}

// The measures of what a plot draws, in its own units; it is as wide as its place, and what is
// written stands beside it, so that letters keep their size.
const plotWidth, plotHeight = 1000.0, 72.0

// SVG draws the plot. What it shows stands in the table below it.
func (p plot) SVG() template.HTML {
	low, top := p.ends()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %.0f %.0f" preserveAspectRatio="none" aria-hidden="true">`, plotWidth, plotHeight)
	y := func(value float64) float64 { return plotHeight * (1 - (value-low)/(top-low)) }
	for i := range plotRules {
		at := plotHeight * (1 - float64(i)/(plotRules-1))
		fmt.Fprintf(&b, `<line class="%s" x1="0" x2="%.0f" y1="%.1f" y2="%.1f"/>`, map[bool]string{true: "axis", false: "rule"}[i == 0], plotWidth, at, at)
	}
	width := plotWidth / float64(max(len(p.At), 1))
	base := make([]float64, len(p.At))
	for _, s := range p.Series {
		if !p.Bars {
			if len(p.Series) == 1 && low == 0 {
				fmt.Fprintf(&b, `<path class="area" d="%s"/>`, s.area(y))
			}
			fmt.Fprintf(&b, `<path class="line-%s" d="%s"/>`, s.Class, s.path(y))
			continue
		}
		for i, value := range s.Values {
			if value > 0 {
				fmt.Fprintf(&b, `<rect class="fill-%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, s.Class, width*float64(i), y(base[i]+value), max(width*.85, 1), max(plotHeight*value/top, 1))
				base[i] += value
			}
		}
	}
	return template.HTML(b.String() + `</svg>`)
}

// plotRules is how many lines lie behind a plot.
const plotRules = 3

// Ticks are the numbers beside the rules, from the top.
func (p plot) Ticks() []string {
	low, top := p.ends()
	ticks := make([]string, plotRules)
	for i := range ticks {
		ticks[i] = amount(top - (top-low)*float64(i)/(plotRules-1))
	}
	return ticks
}

// plotTimes is how many times stand below a plot, before the present.
const plotTimes = 4

// Times stand below the plot, at equal distances from where it begins.
func (p plot) Times() []template.HTML {
	if len(p.At) == 0 {
		return nil
	}
	kind, layout := "clock", "15:04"
	if time.Since(p.At[0]) > 36*time.Hour {
		kind, layout = "day", "2 Jan"
	}
	for _, parts := range []int{plotTimes, 2, 1} {
		var texts []string
		var times []template.HTML
		for i := range parts {
			at := p.At[i*len(p.At)/parts]
			texts = append(texts, at.UTC().Format(layout))
			times = append(times, timeElement(at, texts[i], kind))
		}
		if len(slices.Compact(texts)) == parts {
			return times
		}
	}
	return nil
}

// Begins says where the axis begins, where that is not 0.
func (p plot) Begins() string {
	if low, _ := p.ends(); low > 0 {
		return amount(low)
	}
	return ""
}

// ends are the numbers at the bottom and at the top: 0, unless the values are so near to each
// other that nothing would be seen and the plot allows it.
func (p plot) ends() (low, top float64) {
	least, most := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, value := range s.Values {
			if math.IsNaN(value) {
				continue
			}
			least, most = min(least, value), max(most, value)
		}
	}
	if !p.Near || p.Bars || most <= least || most-least > most/5 {
		return 0, p.top()
	}
	step := math.Pow(10, math.Floor(math.Log10(most-least)))
	low = math.Floor(least/step) * step
	for _, times := range []float64{2, 4, 6, 10, 12, 20, 24} {
		if low+step*times >= most {
			return low, low + step*times
		}
	}
	return 0, p.top()
}

// top is a round number that no value passes.
func (p plot) top() float64 {
	most := 0.0
	for i := range p.At {
		sum := 0.0
		for _, s := range p.Series {
			if i >= len(s.Values) || math.IsNaN(s.Values[i]) {
				continue
			}
			if p.Bars {
				sum += s.Values[i]
			} else {
				sum = max(sum, s.Values[i])
			}
		}
		most = max(most, sum)
	}
	if most <= 0 {
		return 2
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, times := range []float64{1, 2, 4, 6, 8, 10} {
		if most <= unit*times {
			return unit * times
		}
	}
	return most
}

package ui

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

// plot is a small picture of numbers over time, drawn here so that it is there without
// scripts, with the numbers behind it as a table.
type plot struct {
	Title, Unit string
	// Bars are drawn as bars, and all other series as lines.
	Bars   bool
	Series []plotSeries
	At     []time.Time
}

// plotSeries is one series, in a class of colours: bar, bad, quiet or line.
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
	thin := plot{Title: p.Title, Unit: p.Unit, Bars: p.Bars, Series: make([]plotSeries, len(p.Series))}
	for i := 0; i < len(p.At); i += size {
		thin.At = append(thin.At, p.At[i])
	}
	for k, s := range p.Series {
		thin.Series[k] = plotSeries{Name: s.Name, Class: s.Class}
		for i := 0; i < len(s.Values); i += size {
			part, sum := s.Values[i:min(i+size, len(s.Values))], 0.0
			for _, value := range part {
				sum += value
			}
			thin.Series[k].Values = append(thin.Series[k].Values, sum/float64(len(part)))
		}
	}
	return thin
}

// Newest is the last value of a series, in words.
func (s plotSeries) Newest() string {
	if len(s.Values) == 0 {
		return "–"
	}
	return amount(s.Values[len(s.Values)-1])
}

// amount writes a number of whatever size.
func amount(value float64) string {
	if value >= 100 || value == math.Trunc(value) {
		return number(int64(math.Round(value)))
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", value), "0"), ".")
}

// The measures of a plot, in its own units.
const (
	plotWidth, plotHeight = 400.0, 96.0
	plotLeft, plotBottom  = 44.0, 18.0
)

// SVG draws the plot. What it shows stands in the table below it.
func (p plot) SVG() template.HTML {
	top := p.top()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %.0f %.0f" aria-hidden="true">`, plotWidth, plotHeight)
	height := plotHeight - plotBottom - 6
	y := func(value float64) float64 { return 6 + height*(1-value/top) }
	for i := range 3 {
		value := top * float64(i) / 2
		fmt.Fprintf(&b, `<line class="%s" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`,
			map[bool]string{true: "axis", false: "rule"}[i == 0], plotLeft, plotWidth, y(value), y(value), plotLeft-6, y(value)+4, amount(value))
	}
	width := (plotWidth - plotLeft) / float64(max(len(p.At), 1))
	base := make([]float64, len(p.At))
	for _, s := range p.Series {
		if !p.Bars {
			var line strings.Builder
			for i, value := range s.Values {
				fmt.Fprintf(&line, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], plotLeft+width*(float64(i)+.5), y(value))
			}
			fmt.Fprintf(&b, `<path class="line-%s" d="%s"/>`, s.Class, line.String())
			continue
		}
		for i, value := range s.Values {
			if value > 0 {
				fmt.Fprintf(&b, `<rect class="fill-%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, s.Class, plotLeft+width*float64(i), y(base[i]+value), max(width-1, 1), max(height*value/top, 1))
				base[i] += value
			}
		}
	}
	if n := len(p.At); n > 0 {
		for _, i := range []int{0, n / 2} {
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">%s</text>`, plotLeft+width*float64(i), plotHeight-3, p.At[i].UTC().Format("15:04"))
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="end">now</text>`, plotWidth, plotHeight-3)
	}
	return template.HTML(b.String() + `</svg>`)
}

// top is a round number that no value passes.
func (p plot) top() float64 {
	most := 0.0
	for i := range p.At {
		sum := 0.0
		for _, s := range p.Series {
			if i >= len(s.Values) {
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

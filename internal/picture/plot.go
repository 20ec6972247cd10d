package picture

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/feedmill/feedmill/client"
)

// Kinds are the kinds of charts. The first is the default.
var Kinds = []string{"bar", "line", "area"}

// MaxGroups is the maximum number of groups that a picture can have.
const MaxGroups = 400

// Plot is a chart that can be drawn.
type Plot struct {
	chart client.Chart
	// values has the value of each group for each series; a value that is not there is NaN.
	values [][]float64
	axis   axis
}

// New prepares a chart for drawing.
func New(chart client.Chart) *Plot {
	p := &Plot{chart: chart}
	low, high := 0.0, 0.0
	for _, s := range chart.Series {
		values := make([]float64, len(s.Values))
		for i, v := range s.Values {
			values[i] = numberOf(v)
		}
		p.values = append(p.values, values)
	}
	for i := range chart.Groups {
		up, down := 0.0, 0.0
		for _, values := range p.values {
			v := values[i]
			switch {
			case math.IsNaN(v):
			case !p.stacked():
				up, down = max(up, v), min(down, v)
			case v > 0:
				up += v
			default:
				down += v
			}
		}
		low, high = min(low, down), max(high, up)
	}
	p.axis = newAxis(low, high)
	return p
}

// Ends are the least and the greatest value of the axis.
func (p *Plot) Ends() (low, high float64) { return p.axis.low, p.axis.high }

// stacked reports whether the series stand on each other.
func (p *Plot) stacked() bool { return p.chart.Kind != "line" && len(p.chart.Series) > 1 }

// greatest bounds the numbers that are drawn, so that their sums are numbers too.
const greatest = 1e300

// numberOf is a value as a number for drawing.
func numberOf(value json.RawMessage) float64 {
	n, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64)
	if err != nil || math.IsInf(n, 0) {
		return math.NaN()
	}
	return min(max(n, -greatest), greatest)
}

// SeriesName is what the legend calls a series.
func (p *Plot) SeriesName(i int) string {
	s := p.chart.Series[i]
	switch {
	case s.Others == 1:
		return "1 other"
	case s.Others > 1:
		return Grouped(strconv.FormatInt(s.Others, 10)) + " others"
	}
	return p.valueName(s.Value)
}

// valueName is a value of a column as people read it.
func (p *Plot) valueName(value json.RawMessage) string {
	var text string
	switch {
	case string(value) == "null":
		return "no value"
	case json.Unmarshal(value, &text) == nil:
		if text == "" {
			return "empty text"
		}
		return text
	}
	return string(value)
}

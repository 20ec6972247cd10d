package picture

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// left is where a group begins on its axis, from 0 to 1. Lines begin at the left edge and end at the
// right one; bars have a place each.
func (p *Plot) left(i int) float64 {
	if p.chart.Kind == "bar" {
		return float64(i) / float64(len(p.chart.Groups))
	}
	return float64(i) / float64(max(len(p.chart.Groups)-1, 1))
}

// ValueTicks are the lines of the axis of values, 0 at the top.
func (p *Plot) ValueTicks(short bool) []Tick { return p.axis.ticks(short) }

// SVG draws the plot without its labels. It is as wide as its place.
func (p *Plot) SVG(width, height float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" preserveAspectRatio="none" aria-hidden="true">`, width, height)
	p.shapes(&b, width, height)
	b.WriteString("</svg>")
	return b.String()
}

// shapes draws the lines of the axis and the series.
func (p *Plot) shapes(b *strings.Builder, width, height float64) {
	b.WriteString(`<defs><pattern id="unfinished" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="back" width="6" height="6"/><rect class="s-bar" width="3" height="6"/></pattern></defs>`)
	for _, tick := range p.axis.ticks(false) {
		class := "rule"
		if tick.At == p.axis.at(0) {
			class = "axis"
		}
		fmt.Fprintf(b, `<path class="%s" d="M0 %sH%g"/>`, class, place(tick.At*height), width)
	}
	if p.chart.Kind == "line" {
		for i := range p.values {
			p.line(b, i, p.values[i], width, height)
		}
		return
	}
	up, down := make([]float64, len(p.chart.Groups)), make([]float64, len(p.chart.Groups))
	for i := range p.values {
		if p.chart.Kind == "bar" {
			p.bars(b, i, up, down, width, height)
		} else {
			p.area(b, i, up, width, height)
		}
	}
}

// place writes a coordinate.
func place(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", v), "0"), ".")
}

// class is the colour of a series.
func (p *Plot) class(i int) string {
	if len(p.values) == 1 && p.chart.Kind != "line" {
		return "s-bar"
	}
	return fmt.Sprintf("s%d", i)
}

// bars draws the bars of a series on those of the series before: up from zero, or down.
func (p *Plot) bars(b *strings.Builder, series int, up, down []float64, width, height float64) {
	var whole, unfinished strings.Builder
	size := width / float64(len(up))
	gap := min(1, size/4)
	for i, v := range p.values[series] {
		if math.IsNaN(v) || v == 0 {
			continue
		}
		base := up
		if v < 0 {
			base = down
		}
		from, to := p.axis.at(base[i])*height, p.axis.at(base[i]+v)*height
		base[i] += v
		out := &whole
		if p.chart.Groups[i].Incomplete {
			out = &unfinished
		}
		fmt.Fprintf(out, "M%s %sH%sV%sH%sZ", place(p.left(i)*width+gap/2), place(from), place((p.left(i)*width)+size-gap/2), place(to), place(p.left(i)*width+gap/2))
	}
	fmt.Fprintf(b, `<path class="%s" d="%s"/>`, p.class(series), whole.String())
	if unfinished.Len() > 0 {
		fmt.Fprintf(b, `<path class="unfinished" d="%s"/>`, unfinished.String())
	}
}

// line draws a series as a line, which is broken where there is no value, and dashed where a period is incomplete.
func (p *Plot) line(b *strings.Builder, series int, values []float64, width, height float64) {
	var whole, dashed strings.Builder
	known := func(i int) bool { return i >= 0 && i < len(values) && !math.IsNaN(values[i]) }
	at := func(i int) string { return place(p.left(i)*width) + " " + place(p.axis.at(values[i])*height) }
	for i := range values {
		switch {
		case !known(i):
		case p.chart.Groups[i].Incomplete && known(i-1):
			fmt.Fprintf(&dashed, "M%sL%s", at(i-1), at(i))
		case known(i-1) && !(i > 0 && p.chart.Groups[i-1].Incomplete):
			fmt.Fprintf(&whole, "L%s", at(i))
		default:
			fmt.Fprintf(&whole, "M%s", at(i))
			if !known(i + 1) {
				fmt.Fprintf(&whole, "h2") // a value by itself can be seen
			}
		}
	}
	fmt.Fprintf(b, `<path class="line %s" d="%s"/>`, p.class(series), whole.String())
	if dashed.Len() > 0 {
		fmt.Fprintf(b, `<path class="line dashed %s" d="%s"/>`, p.class(series), dashed.String())
	}
}

// area draws what lies between a series and the series before, without those parts that have no value.
func (p *Plot) area(b *strings.Builder, series int, base []float64, width, height float64) {
	values := p.values[series]
	below := append([]float64(nil), base...)
	var shape strings.Builder
	x := func(i int) string { return place(p.left(i) * width) }
	y := func(v float64) string { return place(p.axis.at(v) * height) }
	for i := 0; i < len(values); i++ {
		end := i
		for end < len(values) && !math.IsNaN(values[end]) {
			base[end] += values[end]
			end++
		}
		if end == i {
			continue
		}
		fmt.Fprintf(&shape, "M%s %s", x(i), y(below[i]))
		for k := i; k < end; k++ {
			fmt.Fprintf(&shape, "L%s %s", x(k), y(base[k]))
		}
		for k := end - 1; k > i; k-- {
			fmt.Fprintf(&shape, "L%s %s", x(k), y(below[k]))
		}
		shape.WriteString("Z")
		i = end
	}
	fmt.Fprintf(b, `<path class="area %s" d="%s"/>`, p.class(series), shape.String())
	p.line(b, series, base, width, height)
}

// The measures of a picture.
const (
	pictureWidth, pictureHeight = 1200.0, 392.0
	pictureLeft, pictureBottom  = 64.0, 40.0
	pictureTop                  = 32.0
)

// style has the colours of a picture by itself.
const style = `text{font:12px system-ui,sans-serif;fill:#5B6065}.title{font-weight:600;fill:#1B1D1F}.ground,.back{fill:#FBFBFA}.rule{stroke:#E4E4DF}.axis{stroke:#8B8B84}` +
	`.line{fill:none!important;stroke-width:1.5}.dashed{stroke-dasharray:3 3}.area{fill-opacity:.3}.s-bar{fill:#758AD9;stroke:none}.unfinished{fill:url(#unfinished)}` +
	`.s0{fill:#2F4FC4;stroke:#2F4FC4}.s1{fill:#0B6E8A;stroke:#0B6E8A}.s2{fill:#8B8B84;stroke:#8B8B84}.s3{fill:#758AD9;stroke:#758AD9}.s4{fill:#A9B7EC;stroke:#A9B7EC}` +
	`.s5{fill:#6F86DB;stroke:#6F86DB}.s6{fill:#8CC3D3;stroke:#8CC3D3}.s7{fill:#D9D9D3;stroke:#D9D9D3}.s8{fill:#1B7A3D;stroke:#1B7A3D}path.s0,path.s1,path.s2,path.s3,path.s4,path.s5,path.s6,path.s7,path.s8{stroke-width:1.5}` +
	`path:not(.line):not(.rule):not(.axis){stroke:none}.line.s-bar{stroke:#758AD9}`

// Draw draws a chart as a picture by itself.
func Draw(chart client.Chart) []byte {
	p := New(chart)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img"><title>%s</title><style>%s</style><rect class="ground" width="100%%" height="100%%"/>`,
		pictureWidth, pictureHeight, pictureWidth, pictureHeight, escaped(p.Title()), style)
	fmt.Fprintf(&b, `<text class="title" x="0" y="16">%s</text>`, escaped(p.Title()))
	width, height := pictureWidth-pictureLeft, pictureHeight-pictureTop-pictureBottom
	if len(p.values) > 1 {
		for i := range p.values {
			x := pictureLeft + float64(i)*width/float64(len(p.values))
			fmt.Fprintf(&b, `<path class="s%d" d="M%s 22h10v4h-10z"/><text x="%s" y="28">%s</text>`, i, place(x), place(x+16), escaped(shortened(p.SeriesName(i), 14)))
		}
	}
	fmt.Fprintf(&b, `<g transform="translate(%g %g)">`, pictureLeft, pictureTop)
	p.shapes(&b, width, height)
	for _, tick := range p.ValueTicks(false) {
		fmt.Fprintf(&b, `<text x="-8" y="%s" text-anchor="end">%s</text>`, place(tick.At*height+4), escaped(tick.Text))
	}
	for _, tick := range p.GroupTicks(width) {
		fmt.Fprintf(&b, `<text x="%s" y="%s">%s</text>`, place(tick.At*width), place(height+18), escaped(tick.Text))
	}
	if len(chart.Groups) == 0 {
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="middle">No rows match the filters.</text>`, place(width/2), place(height/2))
	}
	b.WriteString("</g></svg>\n")
	return []byte(b.String())
}

func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// escaped is a text as XML has it, without characters that XML has not.
func escaped(text string) string {
	return html.EscapeString(string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, []byte(text))))
}

// Title says what the chart shows, such as "Sum of total by month and country, EUR".
func (p *Plot) Title() string {
	c := p.chart
	title := "Rows"
	if c.Measure != nil {
		title = map[string]string{"sum": "Sum", "avg": "Average", "min": "Minimum", "max": "Maximum", "count": "Count", "countDistinct": "Distinct values"}[c.Aggregate] + " of " + *c.Measure
	}
	title += " by "
	if c.Period != nil {
		title += *c.Period
	} else {
		title += c.Group
	}
	if c.Split != nil {
		title += " and " + *c.Split
	}
	if c.Format != nil && *c.Format != "percent" {
		title += ", " + *c.Format
	}
	return title
}

package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/picture"
)

// chartPage is a chart of the rows of a feed. Every control is a parameter of its address.
type chartPage struct {
	Head feedHead
	// Measures, Groups and Splits are the columns that each control offers.
	Measures, Groups, Splits []string
	Aggregates, Periods      []operator
	// Column and Period are the parts of the parameter group.
	Column, Period string
	Asked          client.ChartQuery
	AsTable        bool
	Filters        []filterChip
	Operators      []operator
	Error          string
	// Refused reports that there is a table and no plot, because there are too many groups.
	Refused bool
	Chart   *client.Chart
	plot    *picture.Plot
	// Link is the address of the chart with all of its parameters, and Fixed that of its version.
	Link, Fixed string
	Took        time.Duration
}

// chartPeriods are the periods of the control.
var chartPeriods = []operator{{"hour", "Hour"}, {"day", "Day"}, {"week", "Week"}, {"month", "Month"}, {"quarter", "Quarter"}, {"year", "Year"}}

// chartAggregates are the aggregates of the control.
var chartAggregates = []operator{{"sum", "Sum"}, {"avg", "Average"}, {"min", "Minimum"}, {"max", "Maximum"}, {"count", "Count"}, {"countDistinct", "Distinct values"}}

func showChart(v *visit) error {
	head, err := headOf(v, "chart")
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	if column := q.Get("column"); column != "" {
		return v.redirect(withFilter(v.r.URL, column, q.Get("op"), q.Get("value")))
	}
	p := chartPage{Head: head, Filters: chips(v.r.URL), Operators: operators, AsTable: q.Get("view") == "table"}
	p.Head.Query = url.Values{"filter": q["filter"]}.Encode()
	p.read(q)
	if head.Version == 0 || p.Column == "" {
		return v.render(http.StatusOK, "feed_chart", head.Name, p)
	}
	began := time.Now()
	chart, err := p.ask(v, q.Has("group"))
	p.Took = time.Since(began)
	if detail, ok := refused(err); ok {
		p.Error = detail
		return v.render(http.StatusOK, "feed_chart", head.Name, p)
	}
	if err != nil {
		return err
	}
	p.Chart, p.plot = &chart, picture.New(chart)
	p.Refused = len(chart.Groups) > picture.MaxGroups
	p.AsTable = p.AsTable || p.Refused
	p.Link = baseOf(v.r) + v.r.URL.Path + "?" + p.Asked.Values().Encode()
	p.Fixed = with(v.r.URL, "version", strconv.FormatInt(chart.Version, 10))
	return v.render(http.StatusOK, "feed_chart", head.Name, p)
}

// read reads the controls. Those that do not fit the columns get their defaults, because a change of
// one control can make another one wrong.
func (p *chartPage) read(q url.Values) {
	columns := slices.DeleteFunc(slices.Clone(p.Head.Columns), func(c feedmill.Column) bool { return c.Hidden })
	for _, c := range columns {
		p.Measures = append(p.Measures, c.Name)
		if c.Type != columnar.TypeJSON {
			p.Groups = append(p.Groups, c.Name)
		}
	}
	p.Column, p.Period = splitGroup(q.Get("group"))
	p.Period = cmp.Or(q.Get("period"), p.Period)
	if p.Column == "" {
		p.Column = firstOf(columns, columnar.TypeTimestamp, columnar.TypeDate, columnar.TypeText, columnar.TypeBoolean, columnar.TypeInteger)
	}
	group := columnType(p.Head.Columns, p.Column)
	switch group {
	case columnar.TypeTimestamp:
		p.Periods = chartPeriods
	case columnar.TypeDate:
		p.Periods = chartPeriods[1:]
	}
	if !has(p.Periods, p.Period) {
		p.Period = ""
		if len(p.Periods) > 0 {
			p.Period = "month"
		}
	}
	p.Splits = slices.DeleteFunc(slices.Clone(p.Groups), func(name string) bool { return name == p.Column })
	p.Asked = client.ChartQuery{
		Measure: q.Get("measure"), Aggregate: cmp.Or(q.Get("aggregate"), q.Get("fn")), Split: q.Get("split"), Kind: q.Get("kind"), Filters: q["filter"],
		Timezone: q.Get("timezone"),
	}
	p.Asked.Version, _ = strconv.ParseInt(q.Get("version"), 10, 64)
	if p.Asked.Split == p.Column {
		p.Asked.Split = ""
	}
	p.Aggregates = chartAggregates[4:]
	if numeric(string(columnType(p.Head.Columns, p.Asked.Measure))) {
		p.Aggregates = chartAggregates
	}
	if p.Asked.Measure == "" {
		p.Aggregates = chartAggregates[4:5]
	}
	if !has(p.Aggregates, p.Asked.Aggregate) {
		p.Asked.Aggregate = ""
	}
	p.Asked.Group = groupOf(p.Column, p.Period)
}

// splitGroup divides the parameter group into its column and its period.
func splitGroup(text string) (column, period string) {
	item, rest, err := feedmill.ScanItem(text, ":")
	if err != nil {
		return text, ""
	}
	return item.Text, strings.TrimPrefix(rest, ":")
}

func groupOf(column, period string) string {
	if strings.ContainsAny(column, `:"`) {
		column = `"` + strings.ReplaceAll(column, `"`, `""`) + `"`
	}
	if period != "" {
		column += ":" + period
	}
	return column
}

// firstOf is the name of the first column with the first type of a list that any has.
func firstOf(columns []feedmill.Column, types ...columnar.Type) string {
	for _, t := range types {
		for _, c := range columns {
			if c.Type == t {
				return c.Name
			}
		}
	}
	return ""
}

func columnType(columns []feedmill.Column, name string) columnar.Type {
	at := slices.IndexFunc(columns, func(c feedmill.Column) bool { return c.Name == name })
	if at < 0 {
		return ""
	}
	return columns[at].Type
}

func has(all []operator, op string) bool {
	return slices.ContainsFunc(all, func(o operator) bool { return o.Op == op })
}

// ask reads the chart. Without a chosen period it uses days for a few months, and years for many.
func (p *chartPage) ask(v *visit, chosen bool) (client.Chart, error) {
	chart, err := v.api.Chart(v.r.Context(), p.Head.ID, p.Asked)
	if chosen || err != nil || p.Period != "month" || 3 <= len(chart.Groups) && len(chart.Groups) <= 120 || len(chart.Groups) == 0 {
		return chart, err
	}
	p.Period = "day"
	if len(chart.Groups) > 120 {
		p.Period = "year"
	}
	p.Asked.Group = groupOf(p.Column, p.Period)
	return v.api.Chart(v.r.Context(), p.Head.ID, p.Asked)
}

// Kind is how the chart is drawn.
func (p chartPage) Kind() string { return cmp.Or(p.Asked.Kind, picture.Kinds[0]) }

// With is the page with another value of a parameter; an empty value removes the parameter.
func (p chartPage) With(name, value string) string {
	q := p.Asked.Values()
	if p.AsTable && !p.Refused {
		q.Set("view", "table")
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return feedPagePath(p.Head.ID) + "/chart?" + q.Encode()
}

// Title says what the chart shows.
func (p chartPage) Title() string { return p.plot.Title() }

// Legend is a series with its value in the newest group that is complete.
type chartLegend struct{ Class, Name, Value string }

func (p chartPage) Legend() (all []chartLegend) {
	if len(p.Chart.Series) < 2 {
		return nil
	}
	newest := p.newest()
	for i, s := range p.Chart.Series {
		entry := chartLegend{fmt.Sprintf("s%d", i), p.plot.SeriesName(i), ""}
		if newest >= 0 {
			entry.Value = p.shown(s.Values[newest])
		}
		all = append(all, entry)
	}
	return all
}

// newest is the newest period that is complete, or -1 for a chart without periods.
func (p chartPage) newest() int {
	for i, g := range slices.Backward(p.Chart.Groups) {
		if p.Chart.Period != nil && !g.Incomplete && string(g.Value) != "null" {
			return i
		}
	}
	return -1
}

// Caption names the period of the legend, and what is not complete or cannot be drawn by time.
func (p chartPage) Caption() string {
	var parts []string
	if newest := p.newest(); newest >= 0 && len(p.Chart.Series) > 1 {
		parts = append(parts, p.plot.GroupName(newest))
	}
	for i, g := range p.Chart.Groups {
		if g.Incomplete {
			parts = append(parts, p.plot.GroupName(i)+" is incomplete"+p.daysOf(g))
		}
	}
	if n := len(p.Chart.Groups); n > 0 && p.Chart.Period != nil && string(p.Chart.Groups[n-1].Value) == "null" {
		parts = append(parts, plural(p.Chart.Groups[n-1].Rows, "row")+" without "+p.Chart.Group)
	}
	return strings.Join(parts, "; ")
}

// daysOf is how many days of an incomplete period had passed.
func (p chartPage) daysOf(g client.ChartGroup) string {
	start, err := time.Parse(time.DateOnly, strings.Trim(string(g.Value), `"`))
	if err != nil || *p.Chart.Period == "day" {
		return ""
	}
	const day = 24 * time.Hour
	all := feedmill.PeriodUnit(*p.Chart.Period).Add(start, 1).Sub(start) / day
	return fmt.Sprintf(": %d of %d days", min(p.Chart.AsOf.Sub(start)/day, all), all)
}

// shown is a value as the page shows it: with at most two decimals, and its thousands apart.
func (p chartPage) shown(value json.RawMessage) string {
	n, ok := new(big.Rat).SetString(strings.Trim(string(value), `"`))
	if !ok {
		return "–"
	}
	if p.Chart.Format != nil && *p.Chart.Format == "percent" {
		return roundedRat(n.Mul(n, big.NewRat(100, 1))) + thin + "%"
	}
	return roundedRat(n)
}

// roundedRat writes a number with at most two decimals. A small number keeps its first digits.
func roundedRat(n *big.Rat) string {
	text := n.FloatString(2)
	if small := new(big.Rat).Abs(n); n.Sign() != 0 && small.Cmp(big.NewRat(1, 100)) < 0 {
		f, _ := n.Float64()
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	if n.IsInt() {
		text = n.FloatString(0)
	}
	return picture.Grouped(text)
}

// Unit is what follows a value: a currency.
func (p chartPage) Unit() string {
	if p.Chart.Format == nil || *p.Chart.Format == "percent" {
		return ""
	}
	return *p.Chart.Format
}

// The measures of a plot on a wide page. A phone stretches it.
const chartWidth, chartHeight = 1136, 340

// Drawing is the plot with its labels: those of the axis of values at the left.
func (p chartPage) Drawing() template.HTML {
	var b strings.Builder
	for _, short := range []bool{false, true} {
		fmt.Fprintf(&b, `<svg class="chart-scale %s" aria-hidden="true">`, map[bool]string{false: "on-wide", true: "on-narrow"}[short])
		for _, tick := range p.plot.ValueTicks(short) {
			fmt.Fprintf(&b, `<text x="100%%" dx="-8" y="%.2f%%" dy="4" text-anchor="end">%s</text>`, tick.At*100, template.HTMLEscapeString(tick.Text))
		}
		b.WriteString("</svg>")
	}
	b.WriteString(`<div class="chart-area">` + p.plot.SVG(chartWidth, chartHeight))
	for _, ticks := range []struct {
		class string
		width float64
	}{{"on-wide", chartWidth}, {"on-narrow", 300}} {
		fmt.Fprintf(&b, `<svg class="chart-groups %s" aria-hidden="true">`, ticks.class)
		for _, tick := range p.plot.GroupTicks(ticks.width) {
			fmt.Fprintf(&b, `<text x="%.2f%%" y="16">%s</text>`, tick.At*100, template.HTMLEscapeString(tick.Text))
		}
		b.WriteString("</svg>")
	}
	b.WriteString("</div>")
	return template.HTML(b.String())
}

// chartCursor is what the script shows for a group.
type chartCursor struct {
	Low    float64         `json:"low"`
	High   float64         `json:"high"`
	Kind   string          `json:"kind"`
	Unit   string          `json:"unit"`
	Series []string        `json:"series"`
	Groups [][]any         `json:"groups"`
	Values [][]json.Number `json:"values"`
}

// Cursor is what the script shows at the cursor, as JSON.
func (p chartPage) Cursor() string {
	c := chartCursor{Kind: p.Kind(), Unit: p.Unit(), Series: []string{}, Groups: [][]any{}, Values: [][]json.Number{}}
	c.Low, c.High = p.plot.Ends()
	for i := range p.Chart.Series {
		c.Series = append(c.Series, p.plot.SeriesName(i))
	}
	for i, g := range p.Chart.Groups {
		shown := []any{p.plot.GroupName(i), plural(g.Rows, "row")}
		var numbers []json.Number
		for _, s := range p.Chart.Series {
			shown = append(shown, p.shown(s.Values[i]))
			n := json.Number(strings.Trim(string(s.Values[i]), `"`))
			if _, err := n.Float64(); err != nil {
				n = "null"
			}
			numbers = append(numbers, n)
		}
		c.Groups, c.Values = append(c.Groups, shown), append(c.Values, numbers)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return string(text)
}

// chartRow is a group of the table.
type chartRow struct {
	Name       string
	Incomplete bool
	Values     []string
	Rows       int64
}

// Rows are the groups, for the table.
func (p chartPage) Rows() (rows []chartRow) {
	for i, g := range p.Chart.Groups {
		row := chartRow{Name: p.plot.GroupName(i), Incomplete: g.Incomplete, Rows: g.Rows}
		for _, s := range p.Chart.Series {
			row.Values = append(row.Values, p.shown(s.Values[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// SeriesNames are the heads of the table.
func (p chartPage) SeriesNames() (names []string) {
	if len(p.Chart.Series) == 1 {
		return []string{strings.ToLower(p.Title()[:1]) + p.Title()[1:]}
	}
	for i := range p.Chart.Series {
		names = append(names, p.plot.SeriesName(i))
	}
	return names
}

// chartFact is a number below the chart.
type chartFact struct{ Name, Value string }

// Facts are the numbers below the chart.
func (p chartPage) Facts() (facts []chartFact) {
	c := p.Chart
	unit := ""
	if p.Unit() != "" {
		unit = ", " + p.Unit()
	}
	facts = append(facts, chartFact{"Total" + unit, p.shown(c.Total)})
	if len(c.Series) == 1 {
		facts = append(facts, p.extremes(c.Series[0].Values)...)
	}
	facts = append(facts, chartFact{"Computed from", fmt.Sprintf("version %s in %s", number(c.Version), took(float64(p.Took.Milliseconds())))})
	if c.Period != nil {
		facts = append(facts, chartFact{"Time zone", c.Timezone})
	}
	return facts
}

// extremes are the average of the complete groups, the highest one and the incomplete one.
func (p chartPage) extremes(values []json.RawMessage) (facts []chartFact) {
	sum, n, highest, at := new(big.Rat), int64(0), (*big.Rat)(nil), 0
	for i, value := range values {
		v, ok := new(big.Rat).SetString(strings.Trim(string(value), `"`))
		g := p.Chart.Groups[i]
		if !ok || string(g.Value) == "null" {
			continue
		}
		if highest == nil || v.Cmp(highest) > 0 {
			highest, at = v, i
		}
		if !g.Incomplete {
			sum, n = sum.Add(sum, v), n+1
		}
	}
	if n > 0 {
		thing := "group"
		if p.Chart.Period != nil {
			thing = "full " + *p.Chart.Period
		}
		facts = append(facts, chartFact{"Average of " + plural(n, thing), roundedRat(sum.Quo(sum, new(big.Rat).SetInt64(n)))})
	}
	if highest != nil {
		facts = append(facts, chartFact{"Highest", p.plot.GroupName(at) + ", " + p.shown(values[at])})
	}
	for i, g := range p.Chart.Groups {
		if g.Incomplete {
			facts = append(facts, chartFact{p.plot.GroupName(i) + " so far", p.shown(values[i])})
		}
	}
	return facts
}

package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/columnar"
)

// chartReader reads a chart with queries of one version.
type chartReader struct {
	c       *call
	feeds   Feeds
	version feedmill.FeedVersion
	asked   chartAsked
	// counter is the name of a computed field with a value in each row, and copied of one with
	// the measure, for a measure that also forms the groups or the series.
	counter, copied string
}

// The names of the results of queries.
const (
	chartGroup = "g"
	chartSplit = "s"
	chartValue = "v"
	chartRows  = "n"
)

// chartPoint is a row of such a result. A member is nil if the query does not have it.
type chartPoint struct {
	Group json.RawMessage `json:"g"`
	Split json.RawMessage `json:"s"`
	Value json.RawMessage `json:"v"`
	Rows  int64           `json:"n"`
	// Distinct is the number of values of the split column, and Known the rows that have one.
	Distinct int64 `json:"d"`
	Known    int64 `json:"k"`
}

// read reads the whole chart.
func (r *chartReader) read() (client.Chart, error) {
	if err := r.asked.check(r.version.Columns); err != nil {
		return client.Chart{}, err
	}
	r.counter, r.copied = r.unused("row"), r.unused("measure")
	if err := r.feeds.CheckQuery(r.c.ctx(), r.version, r.query(chartGroup, chartSplit, chartValue, chartRows), "ndjson", ""); err != nil {
		return client.Chart{}, err
	}
	chart := r.asked.chart(r.version)
	total, err := r.points(r.query(chartValue, chartRows), 1)
	if err != nil {
		return client.Chart{}, err
	}
	if len(total) == 0 || total[0].Rows == 0 {
		return chart, nil
	}
	chart.RowCount, chart.Total = total[0].Rows, total[0].Value
	points, err := r.points(r.query(chartGroup, chartValue, chartRows), maxChartGroups)
	if err != nil {
		return client.Chart{}, err
	}
	if repeatedGroup(points) {
		return client.Chart{}, notFinite("group", r.asked.group)
	}
	if chart.Groups, err = r.groups(points); err != nil {
		return client.Chart{}, err
	}
	if r.asked.split == "" {
		chart.Series = append(chart.Series, r.series(&chart, json.RawMessage("null"), 0, points))
		return chart, nil
	}
	return chart, r.split(&chart)
}

// repeatedGroup reports whether two groups look the same. JSON has null for NaN and infinite
// numbers, so a chart cannot tell them from rows without a value.
func repeatedGroup(points []chartPoint) bool {
	seen := make(map[string]bool, len(points))
	for _, p := range points {
		if seen[string(p.Group)] {
			return true
		}
		seen[string(p.Group)] = true
	}
	return false
}

func notFinite(parameter, column string) error {
	return feedmill.Invalid("", feedmill.Fault{Parameter: parameter, Detail: fmt.Sprintf("%s has infinite numbers or NaN, which a chart cannot tell from null; use another column for %s", column, parameter)})
}

// unused is a name that no column has.
func (r *chartReader) unused(name string) string {
	for slices.ContainsFunc(r.version.Columns, func(c feedmill.Column) bool { return c.Name == name }) {
		name += "_"
	}
	return name
}

// query is a query of the rows of the chart with some of the results.
func (r *chartReader) query(results ...string) feedmill.Query {
	q := feedmill.Query{
		Where: slices.Clone(r.asked.where), Zone: r.asked.zone, WeekStart: time.Monday, Now: now(),
		Computed: []feedmill.Computed{{Name: r.counter, Expression: "1"}},
	}
	measure := r.asked.measure
	switch measure {
	case "":
		measure = r.counter
	case r.asked.group, r.asked.split: // a query names a column once
		q.Computed = append(q.Computed, feedmill.Computed{Name: r.copied, Expression: `"` + strings.ReplaceAll(measure, `"`, `""`) + `"`, Place: feedmill.Fault{Parameter: "measure"}})
		measure = r.copied
	}
	for _, result := range results {
		switch result {
		case chartGroup:
			q.Fields = append(q.Fields, feedmill.Field{Name: r.asked.group, As: chartGroup, Group: r.asked.period, Place: feedmill.Fault{Parameter: "group"}})
		case chartSplit:
			if r.asked.split != "" {
				q.Fields = append(q.Fields, feedmill.Field{Name: r.asked.split, As: chartSplit, Place: feedmill.Fault{Parameter: "split"}})
			}
		case chartValue:
			if measure != r.counter {
				q.Fields = append(q.Fields, feedmill.Field{Name: measure, As: chartValue, Aggregate: r.asked.aggregate, Place: feedmill.Fault{Parameter: "measure"}})
			}
		case chartRows:
			q.Fields = append(q.Fields, feedmill.Field{Name: r.counter, As: chartRows, Aggregate: feedmill.AggregateCount})
		}
	}
	return q
}

// points runs a query. More results than the limit are an error.
func (r *chartReader) points(q feedmill.Query, limit int) ([]chartPoint, error) {
	if q.Limit == 0 {
		q.Limit = int64(limit) + 1
	}
	rows, err := r.feeds.Rows(r.c.ctx(), r.version, q, "ndjson", "")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	text, err := io.ReadAll(io.LimitReader(rows, maxChartBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxChartBytes {
		return nil, chartTooLarge("The groups of the chart have more than 4 MiB of values. Choose another column, a longer period, or add a filter.")
	}
	var points []chartPoint
	for line := range bytes.Lines(text) {
		var p chartPoint
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read a chart: %w", err)
		}
		if p.Value == nil {
			p.Value = json.RawMessage(fmt.Sprint(p.Rows)) // the measure is the number of rows
		}
		points = append(points, p)
	}
	if len(points) > limit && limit > 1 {
		return nil, tooManyGroups(fmt.Sprintf("more than %d", limit))
	}
	return points, nil
}

func tooManyGroups(how string) error {
	return chartTooLarge(fmt.Sprintf("The chart has %s groups; the maximum is %d. Choose a longer period or another column, or add a filter.", how, maxChartGroups))
}

// groups are the groups of the chart, in order, with those of periods without rows.
func (r *chartReader) groups(points []chartPoint) ([]client.ChartGroup, error) {
	byTotal := r.byTotal()
	slices.SortFunc(points, func(a, b chartPoint) int {
		if byTotal {
			return cmp.Or(-compareNumbers(a.Value, b.Value), compareValues(a.Group, b.Group))
		}
		return compareValues(a.Group, b.Group)
	})
	groups := make([]client.ChartGroup, 0, len(points))
	for _, p := range points {
		groups = append(groups, client.ChartGroup{Value: p.Group, Rows: p.Rows})
	}
	if r.asked.period == "" {
		return groups, nil
	}
	return r.filled(groups)
}

// byTotal reports whether the groups are sorted by their aggregates, the greatest first: texts and
// truths have no order that people look for.
func (r *chartReader) byTotal() bool {
	at := slices.IndexFunc(r.version.Columns, func(c feedmill.Column) bool { return c.Name == r.asked.group })
	return r.asked.period == "" && (r.version.Columns[at].Type == columnar.TypeText || r.version.Columns[at].Type == columnar.TypeBoolean)
}

// compareNumbers compares two numbers; null is less than all others.
func compareNumbers(a, b json.RawMessage) int {
	x, known := new(big.Rat).SetString(string(a))
	y, other := new(big.Rat).SetString(string(b))
	if !known || !other {
		return compareTruths(known, other)
	}
	return x.Cmp(y)
}

func compareTruths(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareValues compares two values of a group; null comes last.
func compareValues(a, b json.RawMessage) int {
	nullA, nullB := string(a) == "null", string(b) == "null"
	switch {
	case nullA || nullB:
		return compareTruths(nullA, nullB)
	case a[0] == '"' || a[0] == 't' || a[0] == 'f':
		return bytes.Compare(a, b)
	}
	return compareNumbers(a, b)
}

// filled adds the periods without rows, and marks the one in which the version was created.
func (r *chartReader) filled(groups []client.ChartGroup) ([]client.ChartGroup, error) {
	filled := make([]client.ChartGroup, 0, len(groups))
	add := func(g client.ChartGroup) error {
		if start, ok := chartStart(g.Value, r.asked.zone); ok {
			g.Incomplete = !start.After(r.version.CreatedAt) && r.asked.period.Add(start, 1).After(r.version.CreatedAt)
		}
		if filled = append(filled, g); len(filled) > maxChartGroups {
			return tooManyGroups(fmt.Sprintf("periods without rows and more than %d", maxChartGroups))
		}
		return nil
	}
	var before time.Time
	known := false // whether the group before has a start
	for _, g := range groups {
		start, ok := chartStart(g.Value, time.UTC)
		if ok && known {
			for at := r.asked.period.Add(before, 1); at.Before(start); at = r.asked.period.Add(at, 1) {
				if err := add(client.ChartGroup{Value: r.startText(at)}); err != nil {
					return nil, err
				}
			}
		}
		before, known = start, ok
		if err := add(g); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

// chartStart is when a period starts that a group is. A date starts where the zone has it.
func chartStart(value json.RawMessage, zone *time.Location) (time.Time, bool) {
	text := strings.Trim(string(value), `"`)
	if at, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return at, true
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

// startText writes the start of a period as the values of groups are written.
func (r *chartReader) startText(at time.Time) json.RawMessage {
	layout := time.DateOnly
	if r.asked.period == feedmill.UnitHour {
		layout = time.RFC3339
	}
	return json.RawMessage(`"` + at.Format(layout) + `"`)
}

// split adds a series for each of the greatest values of the split column, and one for
// the others: by their sums for sums, otherwise by their rows.
func (r *chartReader) split(chart *client.Chart) error {
	q := r.query(chartSplit, chartValue, chartRows)
	by := chartRows
	if r.asked.aggregate == feedmill.AggregateSum {
		by = chartValue
	}
	q.Sort, q.Limit = []feedmill.Sort{{Name: by, Descending: true}}, maxChartSeries
	greatest, err := r.points(q, maxChartSeries)
	if err != nil {
		return err
	}
	chosen := feedmill.Filter{Op: feedmill.OpEq}
	for _, p := range greatest {
		chosen.Values = append(chosen.Values, filterValueOf(p.Split))
	}
	restrict := func(q feedmill.Query, inverted bool) feedmill.Query {
		f := chosen
		f.Inverted = inverted
		q.Where = append(q.Where, feedmill.Condition{Name: r.asked.split, Filters: []feedmill.Filter{f}, Place: feedmill.Fault{Parameter: "split"}})
		return q
	}
	points, err := r.points(restrict(r.query(chartGroup, chartSplit, chartValue, chartRows), false), maxChartSeries*maxChartGroups)
	if err != nil {
		return err
	}
	bySplit, rows := make(map[string][]chartPoint), int64(0)
	for _, p := range points {
		bySplit[string(p.Split)] = append(bySplit[string(p.Split)], p)
		rows += p.Rows
	}
	for _, p := range greatest {
		chart.Series = append(chart.Series, r.series(chart, p.Split, 0, bySplit[string(p.Split)]))
	}
	others, rest, err := r.others(restrict)
	switch {
	case err != nil:
		return err
	case rows+rest != chart.RowCount || len(bySplit) != len(greatest):
		return notFinite("split", r.asked.split)
	case others == 0:
		return nil
	}
	points, err = r.points(restrict(r.query(chartGroup, chartValue, chartRows), true), maxChartGroups)
	if err != nil {
		return err
	}
	chart.Series = append(chart.Series, r.series(chart, json.RawMessage("null"), others, points))
	return nil
}

// filterValueOf is a value of a result as a filter has it.
func filterValueOf(value json.RawMessage) feedmill.FilterValue {
	if string(value) == "null" {
		return feedmill.FilterValue{Null: true}
	}
	text := string(value)
	if value[0] == '"' {
		_ = json.Unmarshal(value, &text) // the worker wrote it
	}
	return feedmill.FilterValue{Text: text}
}

// others counts the values of the split column that have no series of their own, and their rows.
// Null is one of the values.
func (r *chartReader) others(restrict func(feedmill.Query, bool) feedmill.Query) (values, rows int64, err error) {
	q := restrict(r.query(chartRows), true)
	q.Fields = append(q.Fields, feedmill.Field{Name: r.asked.split, Aggregates: []feedmill.NamedAggregate{
		{Fn: feedmill.AggregateCountDistinct, As: "d"}, {Fn: feedmill.AggregateCount, As: "k"},
	}})
	points, err := r.points(q, 1)
	if err != nil || len(points) == 0 {
		return 0, 0, err
	}
	values, rows = points[0].Distinct, points[0].Rows
	if rows > points[0].Known {
		values++
	}
	return values, rows, nil
}

// series has the value of each group. A group without rows has no average and no extremes, and the
// sum and the count 0.
func (r *chartReader) series(chart *client.Chart, value json.RawMessage, others int64, points []chartPoint) client.ChartSeries {
	none := json.RawMessage("null")
	switch r.asked.aggregate {
	case feedmill.AggregateSum, feedmill.AggregateCount, feedmill.AggregateCountDistinct:
		none = json.RawMessage("0")
	}
	values := make(map[string]json.RawMessage, len(points))
	for _, p := range points {
		values[string(p.Group)] = p.Value
	}
	s := client.ChartSeries{Value: value, Others: others, Values: make([]json.RawMessage, 0, len(chart.Groups))}
	for _, g := range chart.Groups {
		v, ok := values[string(g.Value)]
		if !ok {
			v = none
		}
		s.Values = append(s.Values, v)
	}
	return s
}

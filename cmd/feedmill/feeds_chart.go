package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsChart() *cobra.Command {
	cmd := oneFeed("chart", "Aggregate the rows of a feed by a column or a period")
	var q client.ChartQuery
	cmd.Flags().StringVar(&q.Group, "group", "", "column to group by, with an optional period such as created_at:month")
	cmd.Flags().StringVar(&q.Measure, "measure", "", "column to aggregate (default: count rows)")
	cmd.Flags().StringVar(&q.Aggregate, "aggregate", "", "sum, avg, min, max, count or countDistinct (default: sum of numbers, count of others)")
	cmd.Flags().StringVar(&q.Split, "split", "", "column that forms the series")
	cmd.Flags().StringArrayVar(&q.Filters, "filter", nil, "filter such as total:gt:100 (repeatable)")
	cmd.Flags().StringVar(&q.Timezone, "timezone", "", "time zone of periods, such as Europe/Paris (default: UTC)")
	cmd.Flags().Int64Var(&q.Version, "version", 0, "version number (default: the current version)")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if q.Group == "" {
			return usagef("--group is required; set it to a column, or to a column and a period such as created_at:month")
		}
		chart, err := c.Chart(ctx, args[0], q)
		return shown(p, chart, err, (*printer).chart)
	})
}

// chart prints a line for each group, with a column for each series.
func (p *printer) chart(chart client.Chart) error {
	group := chart.Group
	if chart.Period != nil {
		group = *chart.Period
	}
	t := table{header: []string{strings.ToUpper(group)}}
	for _, s := range chart.Series {
		t.header = append(t.header, seriesHeader(chart, s))
	}
	t.header = append(t.header, "ROWS")
	for i, g := range chart.Groups {
		name := orDash(plainValue(g.Value))
		if g.Incomplete {
			name = text(plainValue(g.Value) + " (incomplete)")
		}
		cells := []cell{name}
		for _, s := range chart.Series {
			cells = append(cells, orDash(strings.TrimSuffix(string(bytes.Trim(s.Values[i], `"`)), "null")))
		}
		t.add(append(cells, count(g.Rows))...)
	}
	return p.table(t)
}

// seriesHeader is what the column of a series is called.
func seriesHeader(chart client.Chart, s client.ChartSeries) string {
	switch {
	case s.Others > 0:
		return "OTHERS"
	case chart.Split != nil:
		if plain := plainValue(s.Value); plain != "" {
			return plain
		}
		return "-"
	case chart.Measure == nil:
		return "COUNT"
	}
	return strings.ToUpper(chart.Aggregate) + " OF " + *chart.Measure
}

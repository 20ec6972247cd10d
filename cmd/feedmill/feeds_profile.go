package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeedsProfile() *cobra.Command {
	cmd := oneFeed("profile", "Print statistics about the columns of a feed")
	var q client.RowQuery
	cmd.Flags().StringArrayVar(&q.Filters, "filter", nil, "filter such as total:gt:100 (repeatable)")
	cmd.Flags().Int64Var(&q.Version, "version", 0, "version number (default: the current version)")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		profile, err := c.FeedProfile(ctx, args[0], q)
		return shown(p, profile, err, (*printer).profile)
	})
}

// profile prints what the values are like: a line for each column, with its values in bars.
func (p *printer) profile(profile client.FeedProfile) error {
	t := table{header: []string{"COLUMN", "TYPE", "NULLS", "DISTINCT", "MIN", "MEDIAN", "MAX", "VALUES"}}
	for _, c := range profile.Columns {
		distinct := fmt.Sprint(c.Distinct)
		if !c.DistinctExact {
			distinct = "~" + distinct
		}
		median := ""
		if c.Quantiles != nil {
			median = plainValue(c.Quantiles.P50)
		}
		t.add(text(c.Name), text(c.Type), count(c.Nulls), text(distinct), orDash(plainValue(c.Min)), orDash(median), orDash(plainValue(c.Max)), orDash(valuesText(c)))
	}
	return p.table(t)
}

// plainValue is a value as a table has it, cut where it is long.
func plainValue(raw json.RawMessage) string {
	var value string
	if json.Unmarshal(raw, &value) != nil {
		value = strings.TrimSuffix(string(raw), "null")
	}
	const most = 24
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most-1]) + "…"
	}
	return value
}

// valuesText is how values are spread: bars for a range, else the most frequent ones.
func valuesText(c client.ColumnProfile) string {
	if len(c.Histogram) > 1 {
		return bars(c.Histogram)
	}
	const most = 3
	var all []string
	for _, top := range c.Top[:min(most, len(c.Top))] {
		all = append(all, fmt.Sprintf("%s (%d)", plainValue(top.Value), top.Count))
	}
	return strings.Join(all, ", ")
}

// bars draws how many values are in each part of their range.
func bars(bins []feedmill.ProfileBin) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	most := slices.MaxFunc(bins, func(a, b feedmill.ProfileBin) int { return int(min(max(a.Count-b.Count, -1), 1)) }).Count
	var drawn []rune
	for _, bin := range bins {
		level := 0
		if bin.Count > 0 {
			// What is there is seen, however little it is.
			level = 1 + int(bin.Count*int64(len(levels)-2)/most)
		}
		drawn = append(drawn, levels[level])
	}
	return string(drawn)
}

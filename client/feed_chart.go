package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Chart is an aggregate of the rows of a version, for each group of them. Values are JSON values of
// the types of their columns. A group without a value has null.
type Chart struct {
	Version int64  `json:"version"`
	Kind    string `json:"kind"`
	// Measure is the column that is aggregated; it is null if rows are counted.
	Measure   *string `json:"measure"`
	Aggregate string  `json:"aggregate"`
	// Group is the column that forms the groups, and Period the period, null for each value.
	Group  string  `json:"group"`
	Period *string `json:"period"`
	// Split is the column that forms the series; it is null if there is one series.
	Split *string `json:"split"`
	// Format is the format of the values: percent, a currency code or null.
	Format   *string `json:"format"`
	Timezone string  `json:"timezone"`
	// AsOf is when the version was created.
	AsOf time.Time `json:"asOf"`
	// RowCount is the number of rows that match the filters, and Total their aggregate.
	RowCount int64           `json:"rowCount"`
	Total    json.RawMessage `json:"total"`
	Groups   []ChartGroup    `json:"groups"`
	Series   []ChartSeries   `json:"series"`
}

// ChartGroup is a group of rows of a chart.
type ChartGroup struct {
	// Value is the value of the group, or the start of its period.
	Value json.RawMessage `json:"value"`
	Rows  int64           `json:"rows"`
	// Incomplete reports that the period had not ended when the version was created.
	Incomplete bool `json:"incomplete"`
}

// ChartSeries has a value for each group.
type ChartSeries struct {
	// Value is the value of the split column.
	Value json.RawMessage `json:"value"`
	// Others is the number of values of the split column that share this series. It is 0 for
	// the series of one value.
	Others int64             `json:"others"`
	Values []json.RawMessage `json:"values"`
}

// ChartQuery describes a chart. Only Group is required.
type ChartQuery struct {
	Measure, Aggregate, Group, Split, Timezone, Kind string

	Filters []string
	Version int64
}

// Values returns the query as parameters.
func (q ChartQuery) Values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"measure": q.Measure, "aggregate": q.Aggregate, "group": q.Group, "split": q.Split, "timezone": q.Timezone, "kind": q.Kind,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(q.Filters) > 0 {
		values["filter"] = q.Filters
	}
	if q.Version > 0 {
		values.Set("version", strconv.FormatInt(q.Version, 10))
	}
	return values
}

// Chart aggregates the rows of a feed.
func (c *Client) Chart(ctx context.Context, feed string, q ChartQuery) (Chart, error) {
	return ask[Chart](ctx, c, http.MethodGet, feedPath(feed)+"/chart?"+q.Values().Encode(), nil)
}

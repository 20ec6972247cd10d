package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsQuery() *cobra.Command {
	cmd := oneFeed("query", "Query a feed and print the result")
	cmd.Long = `Queries a feed and prints the result. --field selects columns, in order; without it,
all columns are printed. A field is NAME, NAME=ALIAS or NAME:AGGREGATE, such as
total:sum=revenue. Aggregates are sum, avg, min, max, count and countDistinct. Fields
without an aggregate are the groups. Quote names that contain a colon, an equals sign
or a comma.`
	var q queryFlags
	q.addQuery(cmd)
	limit := 50
	cmd.Flags().Var((*limitValue)(&limit), "limit", "maximum number of rows; 0 means all")
	version := cmd.Flags().Int64("version", 0, "version number (default: the current version)")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		body, err := q.body(func() ([]string, error) { return shownColumns(ctx, c, args[0]) })
		if err != nil {
			return err
		}
		query := body.dataQuery()
		if query.Limit = int64(limit); limit == 0 {
			query.Limit = everyRow
		}
		rows, err := c.QueryData(ctx, args[0], query, client.RowQuery{Format: p.rowFormat(), Version: *version})
		if err != nil {
			return err
		}
		defer rows.Close()
		return p.sentRows(rows, (*printer).rows)
	})
}

// shownColumns are the names of the columns of a feed, but for those that are hidden.
func shownColumns(ctx context.Context, c *client.Client, feed string) (names []string, err error) {
	f, err := c.DataFeed(ctx, feed)
	for _, column := range f.Columns {
		if !column.Hidden {
			names = append(names, column.Name)
		}
	}
	return names, err
}

// client is a filter as the client has it.
func (f queryFilter) client() client.QueryFilter {
	return client.QueryFilter{Op: string(f.Op), Values: f.Values, Inverted: f.Inverted}
}

// dataQuery is a query as the client has it.
func (q *queryBody) dataQuery() client.DataQuery {
	out := client.DataQuery{Timezone: q.Timezone, WeekStart: q.WeekStart, Where: q.Where, Offset: q.Offset}
	for _, f := range q.Fields {
		field := client.QueryField{Field: f.Field, As: f.As, Group: f.Group, Select: f.Select}
		for _, a := range f.Aggregate {
			field.Aggregates = append(field.Aggregates, client.QueryAggregate(a))
		}
		for _, filter := range f.Filters {
			field.Filters = append(field.Filters, filter.client())
		}
		for _, h := range f.Having {
			field.Having = append(field.Having, client.QueryHaving{Fn: string(h.Fn), QueryFilter: h.client()})
		}
		out.Fields = append(out.Fields, field)
	}
	for _, s := range q.Sort {
		out.Sort = append(out.Sort, client.QuerySort{Field: s["field"], Order: s["order"]})
	}
	return out
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsColumns() *cobra.Command {
	cmd := &cobra.Command{
		Use: "columns ID [COLUMN]", Short: "List the columns of a feed, or change one", Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeFirst(completeFeeds),
		Long: `Lists the columns of a feed, or changes one column, given by its name or id.
A new type is applied to an uploaded feed immediately, from the original file, and
to other feeds at the next refresh.`,
	}
	f := cmd.Flags()
	name := f.String("name", "", "name of the column")
	kind := f.String("type", "", "text, integer, decimal, number, boolean, date, timestamp or json")
	format := f.String("format", "", "format of the values, such as dd/mm/yyyy")
	description := f.String("description", "", "description of the column")
	hidden := f.Bool("hidden", false, "hide the column unless it is requested by name; --hidden=false shows it again")
	position := f.Int("position", 0, "position among the columns, from 1")
	onMisfit := f.String("on-misfit", "", "action for values that do not match the type: fail, null or reject")
	dryRun := f.Bool("dry-run", false, "check the stored values and change nothing")
	completeFlag(cmd, "type", completeOf("text", "integer", "decimal", "number", "boolean", "date", "timestamp", "json"))
	completeFlag(cmd, "on-misfit", completeOf("fail", "null", "reject"))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		feed, err := c.DataFeed(ctx, args[0])
		if err != nil {
			return err
		}
		if len(args) == 1 {
			if f.NFlag() > 0 && anyChanged(cmd, "name", "type", "format", "description", "hidden", "position", "on-misfit", "dry-run") {
				return usagef("specify the column to change")
			}
			return p.show(func() error { return p.columns(feed) })
		}
		column := feed.Column(args[1])
		if column == nil {
			return usagef("the feed has no column %q", args[1])
		}
		change := client.ColumnChange{ID: column.ID}
		given := func(flag string) bool { return cmd.Flags().Changed(flag) }
		setIf(given("name"), &change.Name, *name)
		setIf(given("type"), &change.Type, *kind)
		setIf(given("format"), &change.Format, *format)
		setIf(given("description"), &change.Description, *description)
		setIf(given("hidden"), &change.Hidden, *hidden)
		setIf(given("position"), &change.Position, *position)
		setIf(given("on-misfit"), &change.OnMisfit, *onMisfit)
		if *dryRun {
			return p.tryColumn(ctx, c, feed.ID, change)
		}
		if feed, err = c.ChangeColumns(ctx, args[0], []client.ColumnChange{change}); err != nil {
			return err
		}
		return p.show(func() error { return p.columns(feed) })
	})
}

// tryColumn prints what a change would do to the stored values.
func (p *printer) tryColumn(ctx context.Context, c *client.Client, feed string, change client.ColumnChange) error {
	tried, err := c.TryColumns(ctx, feed, []client.ColumnChange{change})
	if err != nil {
		return err
	}
	return p.show(func() error {
		found := tried.Changes[0]
		if err := p.printf("%d of %d rows of version %d have a value that does not fit\n", found.Misfits, tried.RowCount, tried.Version); err != nil || found.Misfits == 0 {
			return err
		}
		t := table{header: []string{"VALUE", "ROWS", "FIRST ROW"}}
		for _, e := range found.Examples {
			t.add(text(e.Value), count(e.Rows), count(e.FirstRow))
		}
		return p.table(t)
	})
}

// setIf sets a field of a change where its flag is given.
func setIf[T any](given bool, field *client.Field[T], value T) {
	if given {
		*field = client.To(value)
	}
}

func anyChanged(cmd *cobra.Command, flags ...string) bool {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// columns prints the columns of a feed.
func (p *printer) columns(f client.DataFeed) error {
	t := table{header: []string{"ID", "COLUMN", "IN THE DATA", "TYPE", "FORMAT", "NULLS", "SHOWN", "DESCRIPTION"}}
	yesNo := map[bool]string{true: "yes", false: "no"}
	for _, c := range f.Columns {
		t.add(text(c.ID), text(c.Name), orDash(c.SourceName), text(string(c.Type)), orDash(c.Format), text(yesNo[c.Nullable]), text(yesNo[!c.Hidden]), orDash(c.Description))
	}
	return p.table(t)
}

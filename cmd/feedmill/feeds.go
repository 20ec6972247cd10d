package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeeds() *cobra.Command {
	parent := &cobra.Command{Use: "feeds", Short: "Create, read and refresh feeds"}
	parent.AddCommand(
		newFeedsUpload(), newFeedsCreate(), newFeedsCreationURL(), newFeedsPreview(), newFeedsTest(), newFeedsList(), newFeedsShow(), newFeedsGet(), newFeedsQuery(), newFeedsExport(),
		newFeedsColumns(), newFeedsChecks(), newFeedsVersions(), newFeedsDiff(), newFeedsProfile(), newFeedsChart(), newFeedsLineage(), newFeedsLink(), newFeedsUpdate(), newFeedsRefresh(), newFeedsRefreshes(), newFeedsWait(), newFeedsCancel(), newFeedsPause(), newFeedsResume(), newFeedsDelete(),
	)
	return parent
}

// oneFeed makes a command that works on the feed it is given.
func oneFeed(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: oneArg("specify a feed id"), ValidArgsFunction: completeFirst(completeFeeds),
	}
}

func newFeedsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List feeds, newest first", Args: cobra.NoArgs}
	limit := limitFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		header := []string{"ID", "NAME", "STATE", "ROWS", "COLUMNS", "VERSION", "CHANGED"}
		return list(p, paged(c, *limit).DataFeeds(ctx), *limit, header, func(f client.DataFeed) []cell {
			return []cell{
				text(f.ID), text(f.Name), state(f.State), count(f.RowCount), count(int64(len(f.Columns))), count(f.Version), text(moment(f.UpdatedAt)),
			}
		})
	})
}

func count(n int64) cell { return text(strconv.FormatInt(n, 10)) }

func newFeedsShow() *cobra.Command {
	return onServer(oneFeed("show", "Show a feed with its columns and warnings"), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		f, err := c.DataFeed(ctx, args[0])
		return shown(p, f, err, (*printer).feed)
	})
}

// feed prints what is known of a feed.
func (p *printer) feed(f client.DataFeed) error {
	var t table
	t.fields("Feed", f.ID, "Name", f.Name, "Description", f.Description, "Type", string(f.Type))
	t.field("State", state(f.State))
	t.fields("Rows", fmt.Sprint(f.RowCount), "Size", bytesText(f.ByteSize), "Version", fmt.Sprint(f.Version))
	if f.Mode != feedmill.ModeReplace {
		t.field("Mode", text(strings.TrimSpace(string(f.Mode)+" "+strings.Join(f.Key, ", "))))
	}
	if f.Schedule != nil {
		t.field("Schedule", text(scheduleText(*f.Schedule)))
	}
	t.fields("Next refresh", momentOrNone(f.NextRefreshAt))
	if f.LastError != nil {
		t.field("Last error", cell{text: f.LastError.Detail, tone: bad})
	}
	t.fields("Created", moment(f.CreatedAt), "Changed", moment(f.UpdatedAt))
	if err := p.table(t); f.Version == 0 {
		return err
	}
	return p.modelled(f.Columns, f.Warnings)
}

func scheduleText(s client.Schedule) string {
	if s.Cron != "" {
		return s.Cron + " in " + s.Timezone
	}
	return "every " + s.Every
}

// modelled prints what data was made of.
func (p *printer) modelled(columns []feedmill.Column, warnings []feedmill.Warning) error {
	t := table{header: []string{"COLUMN", "TYPE", "FORMAT", "NULLS"}}
	for _, c := range columns {
		nulls := "no"
		if c.Nullable {
			nulls = "yes"
		}
		t.add(text(c.Name), text(string(c.Type)), orDash(c.Format), text(nulls))
	}
	p.printf("\n")
	if err := p.table(t); err != nil {
		return err
	}
	return p.warnings(warnings)
}

// warnings prints what is to be known of data, where there is anything.
func (p *printer) warnings(warnings []feedmill.Warning) error {
	if len(warnings) == 0 {
		return nil
	}
	t := table{header: []string{"WARNING", "COLUMN", "COUNT", "FIRST ROW", "DETAIL"}}
	for _, w := range warnings {
		row := "-"
		if w.FirstRow > 0 {
			row = strconv.FormatInt(w.FirstRow, 10)
		}
		t.add(cell{text: w.Code, tone: waiting}, orDash(w.Column), count(w.Count), text(row), text(w.Detail+examplesText(w.Examples)))
	}
	p.printf("\n")
	return p.table(t)
}

// examplesText shows the first values that a warning is about.
func examplesText(examples []feedmill.Example) string {
	var shown []string
	for _, e := range examples {
		switch {
		case e.Value == "":
		case e.Row > 0:
			shown = append(shown, fmt.Sprintf("row %d: %q", e.Row, e.Value))
		default:
			shown = append(shown, fmt.Sprintf("line %d: %q", e.Line, e.Value))
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return " (" + strings.Join(shown, ", ") + ")"
}

// bytesText is a number of bytes as people read it.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 4 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[prefix])
}

func newFeedsUpdate() *cobra.Command {
	cmd := oneFeed("update", "Change the name, description or definition of a feed")
	file := specFlag(cmd)
	name := cmd.Flags().String("name", "", "name of the feed")
	description := cmd.Flags().String("description", "", "description of the feed")
	table := cmd.Flags().String("table-name", "", "name of the feed as a table")
	var keep client.Keep
	cmd.Flags().IntVar(&keep.Versions, "keep-versions", 0, "number of newest versions to keep")
	cmd.Flags().IntVar(&keep.Days, "keep-days", 0, "number of days to keep versions")
	var expected expectFlags
	expected.add(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		var change client.DataFeedChange
		if cmd.Flags().Changed("name") {
			change.Name = client.To(*name)
		}
		if cmd.Flags().Changed("description") {
			change.Description = client.To(*description)
		}
		if cmd.Flags().Changed("table-name") {
			change.TableName = client.To(*table)
		}
		if cmd.Flags().Changed("keep-versions") || cmd.Flags().Changed("keep-days") {
			change.Keep = client.To(keep)
		}
		if err := expected.into(cmd, &change); err != nil {
			return err
		}
		named := !change.Name.IsZero() || !change.Description.IsZero() || !change.TableName.IsZero() || !change.Keep.IsZero() || expected.given(cmd)
		if !named && *file == "" {
			return usagef("specify a change with --file, --name, --description, --table-name, --keep-versions, --keep-days, --schema-policy, --expect or --expect-every")
		}
		var f client.DataFeed
		if *file != "" {
			spec, err := readSpec(cmd, *file)
			if err != nil {
				return err
			}
			if f, err = c.UpdateRestFeed(ctx, args[0], spec); err != nil {
				return err
			}
		}
		if named {
			var err error
			if f, err = c.ChangeDataFeed(ctx, args[0], change); err != nil {
				return err
			}
		}
		return p.show(func() error { return p.feed(f) })
	})
}

func newFeedsDelete() *cobra.Command {
	cmd := oneFeed("delete", "Delete a feed and its data")
	force := cmd.Flags().Bool("force", false, "delete the feed even if other feeds are built from it")
	return onServer(cmd, confirmed(cmd, "This deletes feed %s and all of its versions.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		var opts []client.CallOption
		if *force {
			opts = append(opts, client.Force())
		}
		if err := c.DeleteDataFeed(ctx, args[0], opts...); err != nil {
			return err
		}
		return p.say("deleted %s\n", strings.TrimSpace(args[0]))
	}))
}

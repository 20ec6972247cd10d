package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeedsCreate() *cobra.Command {
	parent := &cobra.Command{Use: "create", Short: "Create a feed from a source"}
	parent.AddCommand(newFeedsCreateRest(), newFeedsCreateQuery())
	onlyHelps(parent)
	return parent
}

func newFeedsCreateRest() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rest -f FILE", Short: "Create a feed from a REST API", Args: cobra.NoArgs,
		Long: `Creates a feed from a REST API. A JSON or YAML file defines the requests, how the
responses are read, and the schedule. The first refresh starts immediately; --watch
shows its progress and waits until it ends.`,
	}
	file := specFlag(cmd)
	sourceOf := cmd.Flags().String("source-of", "", "id of a feed that shares its fetched data with the new feed")
	completeFlag(cmd, "source-of", completeFeeds)
	watch := watchFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		spec, err := readSpec(cmd, *file)
		if err != nil {
			return err
		}
		f, err := c.CreateRestFeed(ctx, client.RestFeed{Spec: spec, SourceOf: *sourceOf})
		if err != nil {
			return err
		}
		return p.made(ctx, c, f, *watch)
	})
}

// made prints a feed that was just made, after its first refresh where somebody
// wants to watch that.
func (p *printer) made(ctx context.Context, c *client.Client, f client.DataFeed, watch bool) error {
	var first client.Refresh
	if watch && f.LastRefresh != nil {
		var err error
		if first, err = p.watch(ctx, c, f.ID, f.LastRefresh.ID); err != nil {
			return err
		}
		if f, err = c.DataFeed(ctx, f.ID); err != nil {
			return err
		}
	}
	if err := shown(p, f, nil, (*printer).feed); err != nil {
		return err
	}
	return refreshFailed(first)
}

func specFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("file", "f", "", "JSON or YAML file with the definition; - is standard input")
}

// readSpec reads the file that says how data is fetched.
func readSpec(cmd *cobra.Command, name string) ([]byte, error) {
	switch name {
	case "":
		return nil, usagef("specify the definition with --file")
	case "-":
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}

func newFeedsPreviewRest() *cobra.Command {
	return previewRest(&cobra.Command{
		Use: "rest -f FILE", Short: "Fetch data once and show the result; nothing is stored", Args: cobra.NoArgs,
	})
}

func newFeedsTest() *cobra.Command {
	return previewRest(&cobra.Command{
		Use: "test -f FILE", Short: "Test a definition: show its requests and rows", Args: cobra.NoArgs,
	})
}

// previewRest has a command fetch what a file says, and show it.
func previewRest(cmd *cobra.Command) *cobra.Command {
	file := specFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		spec, err := readSpec(cmd, *file)
		if err != nil {
			return err
		}
		return p.tryRest(ctx, c, spec)
	})
}

// tryRest has a definition fetched, and shows every request and the first rows.
func (p *printer) tryRest(ctx context.Context, c *client.Client, spec []byte) error {
	preview, err := c.PreviewRestFeed(ctx, spec)
	if err != nil {
		return p.previewFailed(err)
	}
	return shown(p, preview, nil, func(p *printer, preview client.DataPreview) error {
		p.trace(preview.Trace)
		p.printf("\n%d rows\n", preview.RowCount)
		if len(preview.Rows) > 0 {
			p.printf("\n")
			if err := p.previewRows(preview.Columns, preview.Rows, shownRows); err != nil {
				return err
			}
		}
		return p.modelled(preview.Columns, preview.Warnings)
	})
}

// previewFailed prints what was asked for in vain, and what the source said.
func (p *printer) previewFailed(err error) error {
	problem, ok := errors.AsType[*client.Problem](err)
	if !ok || p.json || len(problem.Trace) == 0 {
		return err
	}
	if err := p.trace(problem.Trace); err != nil {
		return err
	}
	if problem.Source != nil && problem.Source.Excerpt != "" {
		if err := p.printf("\nResponse of the source:\n%s\n", problem.Source.Excerpt); err != nil {
			return err
		}
	}
	return err
}

// shownRows is how many rows of a preview are printed.
const shownRows = 20

// previewRows prints the first rows of a preview.
func (p *printer) previewRows(columns []feedmill.Column, rows []json.RawMessage, most int) error {
	t := table{}
	for _, c := range columns {
		t.header = append(t.header, c.Name)
	}
	for _, row := range rows[:min(len(rows), most)] {
		var values map[string]json.RawMessage
		if err := json.Unmarshal(row, &values); err != nil {
			return err
		}
		var cells []cell
		for _, c := range columns {
			cells = append(cells, text(shownValue(values[c.Name])))
		}
		t.add(cells...)
	}
	return p.table(t)
}

// shownValue is a value of a row as people read it.
func shownValue(raw json.RawMessage) string {
	const widest = 40
	shown := string(raw)
	var quoted string
	switch {
	case shown == "null" || shown == "":
		return "-"
	case json.Unmarshal(raw, &quoted) == nil:
		shown = quoted
	}
	if runes := []rune(shown); len(runes) > widest {
		shown = string(runes[:widest-1]) + "…"
	}
	return shown
}

// trace prints what was asked for, and what came of it.
func (p *printer) trace(requests []client.TracedRequest) error {
	t := table{header: []string{"REQUEST", "STATUS", "PAGE", "ROWS", "BYTES", "TOOK", "ERROR"}}
	for _, r := range requests {
		status, page := cell{text: "-", tone: bad}, "-"
		if r.Status > 0 {
			status = cell{text: strconv.Itoa(r.Status), tone: good}
		}
		if r.Status >= 400 {
			status.tone = bad
		}
		if r.Page > 0 {
			page = strconv.Itoa(r.Page)
		}
		t.add(
			text(fmt.Sprintf("%s %s", r.Method, r.URL)), status, text(page), count(r.Rows), count(r.Bytes),
			text(client.Milliseconds(r.DurationMS).Duration().String()), orDash(r.Error),
		)
	}
	return p.table(t)
}

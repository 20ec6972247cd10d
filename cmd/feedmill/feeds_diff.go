package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsDiff() *cobra.Command {
	cmd := oneFeed("diff", "Print the rows that changed between two versions")
	cmd.Use, cmd.Args = "diff ID FROM [TO]", cobra.RangeArgs(2, 3)
	var r rowFlags
	r.addQuery(cmd, 50)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		var numbers [2]int64
		for i, text := range args[1:] {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 1 {
				return usagef("%q is not a version number", text)
			}
			numbers[i] = n
		}
		rows, err := c.FeedChanges(ctx, args[0], numbers[0], numbers[1], r.query(p.rowFormat()))
		if err != nil {
			return err
		}
		defer rows.Close()
		return p.sentRows(rows, (*printer).changes)
	})
}

// changes prints rows that are different, which come as CSV: each with a sign before it, and
// of those that were updated the old values of the columns that are.
func (p *printer) changes(rows *client.Rows) error {
	records := csv.NewReader(rows)
	header, err := records.Read()
	if err != nil {
		return fmt.Errorf("cannot read the rows: %w", err)
	}
	change, before := slices.Index(header, "_change"), slices.Index(header, "_before")
	var t table
	for i, name := range header {
		switch i {
		case change:
			t.header = append(t.header, "")
		case before:
		default:
			t.header = append(t.header, name)
		}
	}
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot read the rows: %w", err)
		}
		var old map[string]any
		if before >= 0 && record[before] != "" {
			d := json.NewDecoder(bytes.NewReader([]byte(record[before])))
			d.UseNumber()
			if err := d.Decode(&old); err != nil {
				return fmt.Errorf("cannot read the rows: %w", err)
			}
		}
		var cells []cell
		for i, value := range record {
			switch i {
			case change:
				cells = append(cells, changeSign(value))
			case before:
			default:
				cells = append(cells, changedCell(value, old, header[i]))
			}
		}
		t.add(cells...)
	}
	if err := p.table(t); err != nil || rows.Next == "" {
		return err
	}
	_, err = fmt.Fprintf(p.notes, "Only the first %d are shown. Use --limit to show more.\n", len(t.rows))
	return err
}

// changeSign is what happened to a row.
func changeSign(change string) cell {
	switch change {
	case "insert":
		return cell{"+", good}
	case "delete":
		return cell{"-", bad}
	}
	return cell{"~", waiting}
}

// changedCell is a value, with the one that it had before where that was another.
func changedCell(value string, old map[string]any, column string) cell {
	was, there := old[column]
	if !there {
		return text(value)
	}
	before := ""
	switch was := was.(type) {
	case nil:
	case string:
		before = was
	default:
		raw, err := json.Marshal(was)
		if err != nil {
			return text(value)
		}
		before = string(raw)
	}
	if before == value {
		return text(value)
	}
	return cell{before + " → " + value, strong}
}

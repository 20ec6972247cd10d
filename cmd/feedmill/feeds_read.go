package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// rowFlags say which rows are wanted.
type rowFlags struct {
	fields, sort string
	filters      []string
	limit        int
	version      int64
}

func (r *rowFlags) add(cmd *cobra.Command, limit int) {
	r.addQuery(cmd, limit)
	cmd.Flags().Int64Var(&r.version, "version", 0, "version number (default: the current version)")
}

// addQuery is add without the version.
func (r *rowFlags) addQuery(cmd *cobra.Command, limit int) {
	f := cmd.Flags()
	f.StringVar(&r.fields, "fields", "", "columns, separated by commas (default: all)")
	f.StringArrayVar(&r.filters, "filter", nil, "filter such as total:gt:100, status:eq:paid,open or '!name:isNull' (repeatable)")
	f.StringVar(&r.sort, "sort", "", "columns to sort by, separated by commas; - before a column sorts descending")
	r.limit = limit
	f.Var((*limitValue)(&r.limit), "limit", "maximum number of rows; 0 means all")
}

// everyRow is a limit that no feed reaches.
const everyRow = 1_000_000_000_000

func (r *rowFlags) query(format string) client.RowQuery {
	q := client.RowQuery{Format: format, Fields: r.fields, Filters: r.filters, Sort: r.sort, Limit: int64(r.limit), Version: r.version}
	if q.Limit == 0 && format == "json" { // of the others all come anyway, as a file
		q.Limit = everyRow
	}
	return q
}

func newFeedsGet() *cobra.Command {
	cmd := oneFeed("get", "Print rows of a feed")
	var r rowFlags
	r.add(cmd, 50)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		rows, err := c.ReadData(ctx, args[0], r.query(p.rowFormat()))
		if err != nil {
			return err
		}
		defer rows.Close()
		return p.sentRows(rows, (*printer).rows)
	})
}

// rows prints rows, which come as CSV, as a table.
func (p *printer) rows(rows *client.Rows) error {
	var t table
	records := csv.NewReader(rows)
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot read the rows: %w", err)
		}
		if t.header == nil {
			t.header = record
			continue
		}
		t.add(texts(record...)...)
	}
	if err := p.table(t); err != nil || rows.Next == "" {
		return err
	}
	_, err := fmt.Fprintf(p.notes, "Only the first %d are shown. Use --limit to show more.\n", len(t.rows))
	return err
}

func newFeedsExport() *cobra.Command {
	cmd := oneFeed("export", "Export the rows of a feed to a file")
	var r rowFlags
	r.add(cmd, 0)
	format := cmd.Flags().String("format", "", "csv, xlsx, json, ndjson, parquet or arrow (default: by the file name, else csv)")
	output := cmd.Flags().StringP("output", "o", "-", "file to write; - is standard output")
	excel := cmd.Flags().Bool("excel", false, "CSV for spreadsheets: with a byte order mark and escaped formulas")
	completeFlag(cmd, "format", completeOf("csv", "xlsx", "json", "ndjson", "parquet", "arrow"))
	at := serverFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := dial(*at, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if *format == "" {
			*format = exportFormat(*output)
		}
		q := r.query(*format)
		q.Excel = *excel
		rows, err := c.ReadData(cmd.Context(), args[0], q)
		if err != nil {
			return err
		}
		defer rows.Close()
		if *output == "-" {
			return copyOut(cmd.OutOrStdout(), rows)
		}
		return writeWhole(*output, rows)
	}
	return cmd
}

// copyOut writes rows as they are, but at a terminal, which would obey what is in
// them.
func copyOut(w io.Writer, rows io.Reader) error {
	if f, ok := w.(*os.File); !ok || !isTerminal(f) {
		_, err := io.Copy(w, rows)
		return err
	}
	lines := bufio.NewReader(rows)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(w, plainLines(strings.ReplaceAll(line, "\r\n", "\n"))); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func exportFormat(file string) string {
	switch extension := strings.ToLower(filepath.Ext(file)); extension {
	case ".json", ".ndjson", ".xlsx", ".parquet", ".arrow":
		return extension[1:]
	case ".jsonl":
		return "ndjson"
	case ".arrows":
		return "arrow"
	}
	return "csv"
}

// writeWhole writes a file that is there with all of its bytes or not at all.
func writeWhole(name string, from io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".feedmill-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, from)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

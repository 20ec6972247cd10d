package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// uploadFlags say what is in a file.
type uploadFlags struct {
	name, format, path, explode, types, entry string
	columns                                   string
	sheet                                     int
	feedmill.ReadingOptions
}

func (u *uploadFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&u.name, "name", "", "name of the feed (default: the name of the file)")
	f.StringVar(&u.format, "format", "", formatNames+"; default: by the file name")
	f.StringVar(&u.path, "path", "", "path of the records: a JSONPath such as '$.data.items[*]', an XML path such as '/feed/entry', or a range, table or name of a sheet such as 'B3:H200'")
	f.IntVar(&u.sheet, "sheet", 0, "number of the worksheet, from 1 (default: the first)")
	f.StringVar(&u.entry, "entry", "", "file of a zip archive, or a pattern such as '*.csv'; required if the archive has several files")
	f.StringVar(&u.explode, "explode", "", "path below the record of JSON or XML; each element becomes a row")
	f.StringVar(&u.types, "types", "auto", "auto, or text to keep every column as text")
	f.StringVar(&u.columns, "columns", "", `changes to the detected columns, such as '[{"sourceName":"zip","type":"text"}]'`)
	f.StringVar(&u.Delimiter, "delimiter", "", "field delimiter, or tab (default: detected)")
	f.StringVar(&u.Quote, "quote", "", "quote character, or none (default: detected)")
	f.StringVar(&u.Encoding, "encoding", "", "encoding, such as windows-1252 or shift_jis (default: detected)")
	f.StringVar(&u.Header, "header", "", "line of the header, from 1, or none (default: detected)")
	f.StringVar(&u.Nulls, "nulls", "", "null tokens in columns other than text, separated by commas, or none")
	f.StringVar(&u.Decimal, "decimal", "", "decimal separator: . or , (default: detected)")
	f.StringVar(&u.Dates, "dates", "", "order of dates: dmy, mdy or ymd (default: detected)")
	f.StringVar(&u.Timezone, "timezone", "", "time zone of times without an offset (default: UTC)")
	f.StringVar(&u.Footer, "footer", "", "keep all rows below the table, or drop notes as rules version 1 does")
	f.StringVar(&u.Context, "context", "", "add the values around the records as columns: true or false")
	f.StringVar(&u.Table, "table", "", "number of the table if the file has several, from 1, or all")
	completeFlag(cmd, "context", completeOf("true", "false"))
	completeFlag(cmd, "footer", completeOf("keep", "drop"))
	completeFlag(cmd, "decimal", completeOf(".", ","))
	completeFlag(cmd, "dates", completeOf("dmy", "mdy", "ymd"))
	completeFlag(cmd, "format", completeOf(uploadFormats...))
	completeFlag(cmd, "types", completeOf("auto", "text"))
}

// open opens the file, or standard input for a dash.
func (u *uploadFlags) open(cmd *cobra.Command, name string) (client.Upload, io.Closer, error) {
	out := client.Upload{Name: u.name, Format: u.format, Path: u.path, Explode: u.explode, Sheet: u.sheet, Entry: u.entry, ReadingOptions: u.ReadingOptions}
	switch u.types {
	case "auto":
	case "text":
		out.Text = true
	default:
		return out, nil, usagef("--types must be auto or text")
	}
	if u.columns != "" {
		if err := json.Unmarshal([]byte(u.columns), &out.Columns); err != nil {
			return out, nil, usagef("--columns must be a JSON array of objects: %v", err)
		}
	}
	base, encoding := cutCompression(filepath.Base(name))
	out.ContentEncoding = encoding
	if out.Format == "" {
		out.Format = formatOf[strings.ToLower(filepath.Ext(base))]
	}
	if out.Format == "" && !strings.EqualFold(filepath.Ext(base), ".zip") { // the names in an archive say it
		return out, nil, usagef("specify the format with --format: %s", formatNames)
	}
	if name == "-" {
		out.Data = cmd.InOrStdin()
		return out, io.NopCloser(nil), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return out, nil, err
	}
	out.FileName, out.Data = base, f
	return out, f, nil
}

// uploadFormats are what a file can be, and formatNames lists them.
var uploadFormats = []string{"csv", "tsv", "json", "ndjson", "xlsx", "xlsm", "xlsb", "xls", "ods", "xml", "parquet", "arrow"}

const formatNames = "csv, tsv, json, ndjson, xlsx, xlsm, xlsb, xls, ods, xml, parquet or arrow"

// formatOf tells what a file is by how its name ends.
var formatOf = map[string]string{
	".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".xml": "xml",
	".xlsx": "xlsx", ".xlsm": "xlsm", ".xlsb": "xlsb", ".xls": "xls", ".ods": "ods",
	".parquet": "parquet", ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow",
}

// cutCompression takes the ending off the name of a compressed file.
func cutCompression(name string) (string, string) {
	if base, ok := strings.CutSuffix(name, ".gz"); ok {
		return base, "gzip"
	}
	if base, ok := strings.CutSuffix(name, ".zst"); ok {
		return base, "zstd"
	}
	return name, ""
}

func newFeedsUpload() *cobra.Command {
	cmd := &cobra.Command{
		Use: "upload FILE", Short: "Create a feed from a file, or upload new data", Args: oneArg("specify a file, or - for standard input"),
		Long: `Creates a feed from a CSV, TSV, JSON, NDJSON, XML, Parquet, Arrow or spreadsheet file.
The file can be compressed (.gz, .zst) or in a zip archive. Types are inferred from all
of the data. The command prints the columns and any warnings.`,
	}
	var u uploadFlags
	u.add(cmd)
	replace := cmd.Flags().String("replace", "", "id of the feed to upload to; --mode specifies how rows are combined")
	mode := cmd.Flags().String("mode", "", "replace, append or merge (default: the mode of the feed, else replace)")
	key := cmd.Flags().StringSlice("key", nil, "key columns for --mode merge")
	accept := acceptFlag(cmd)
	completeFlag(cmd, "replace", completeFeeds)
	completeFlag(cmd, "mode", completeOf("replace", "append", "merge"))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		data, file, err := u.open(cmd, args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		data.Data = p.progress(data.Data)
		data.Mode, data.Key = feedmill.FeedMode(*mode), *key
		var f client.DataFeed
		switch again := accept(); {
		case *replace != "":
			f, err = c.ReplaceData(ctx, *replace, data, again...)
		case again != nil:
			return usagef("--accept applies to new data of an existing feed; specify the feed with --replace")
		default:
			f, err = c.CreateDataFeed(ctx, data)
		}
		return shown(p, f, err, (*printer).feed)
	})
}

func newFeedsPreview() *cobra.Command {
	cmd := &cobra.Command{
		Use: "preview FILE", Short: "Preview the table of a file; nothing is stored", Args: oneArg("specify a file, or - for standard input"),
	}
	cmd.AddCommand(newFeedsPreviewRest())
	var u uploadFlags
	u.add(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		data, file, err := u.open(cmd, args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		data.Data = p.progress(data.Data)
		preview, err := c.PreviewDataFeed(ctx, data)
		return shown(p, preview, err, func(p *printer, preview client.DataPreview) error {
			p.printf("%d rows\n", preview.RowCount)
			return p.modelled(preview.Columns, preview.Warnings)
		})
	})
}

// progress makes a reader tell people at a terminal how far it is.
func (p *printer) progress(data io.Reader) io.Reader {
	notes, ok := p.notes.(*os.File)
	file, sized := data.(*os.File)
	if !ok || !sized || p.json || !isTerminal(notes) {
		return data
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return data
	}
	return &progress{File: file, size: info.Size(), notes: notes}
}

// progress is a file that says how much of it was read, a few times a second.
type progress struct {
	*os.File
	size, read int64
	notes      io.Writer
	reportedAt time.Time
}

func (f *progress) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.read += int64(n)
	if done := err == io.EOF; done || time.Since(f.reportedAt) > 200*time.Millisecond {
		f.reportedAt = time.Now()
		fmt.Fprintf(f.notes, "\r\x1b[K%s of %s", bytesText(f.read), bytesText(f.size))
		if done {
			fmt.Fprint(f.notes, "\r\x1b[K")
		}
	}
	return n, err
}

// Seek begins again, for another try.
func (f *progress) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	f.read = at
	return at, err
}

// WriteTo would pass by Read.
func (f *progress) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f})
}

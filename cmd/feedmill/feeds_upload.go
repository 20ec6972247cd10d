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
	f.StringVar(&u.name, "name", "", "what the feed is called; by default as the file is")
	f.StringVar(&u.format, "format", "", formatNames+"; by default as the file's name ends")
	f.StringVar(&u.path, "path", "", "where the records are: in JSON a JSONPath such as '$.data.items[*]', in XML '/feed/entry', in a sheet 'B3:H200' or the name of a range or a table")
	f.IntVar(&u.sheet, "sheet", 0, "the number of the worksheet, from 1; by default the first")
	f.StringVar(&u.entry, "entry", "", "which file of a zip archive, or a pattern such as '*.csv' for it; needed where it has several")
	f.StringVar(&u.explode, "explode", "", "a path below the record of JSON or XML to what becomes a row each")
	f.StringVar(&u.types, "types", "auto", "text leaves every column text, as it stands in the file")
	f.StringVar(&u.columns, "columns", "", `changes to the columns that are found, such as '[{"sourceName":"zip","type":"text"}]'`)
	f.StringVar(&u.Delimiter, "delimiter", "", "the character between fields, or tab; this and what follows is found where it is not said")
	f.StringVar(&u.Quote, "quote", "", "the character around fields, or none")
	f.StringVar(&u.Encoding, "encoding", "", "the encoding, such as windows-1252 or shift_jis")
	f.StringVar(&u.Header, "header", "", "the line of the header, from 1, or none")
	f.StringVar(&u.Nulls, "nulls", "", "texts that mean null in columns that are not text, separated by commas, or none")
	f.StringVar(&u.Decimal, "decimal", "", "the character before the fraction of a number: . or ,")
	f.StringVar(&u.Dates, "dates", "", "the order of dates: dmy, mdy or ymd")
	f.StringVar(&u.Timezone, "timezone", "", "where times without an offset are from; by default UTC")
	f.StringVar(&u.Footer, "footer", "", "keep every row below the table, or drop notes as version 1 of the rules does")
	f.StringVar(&u.Context, "context", "", "add the values around the records as columns: true or false")
	f.StringVar(&u.Table, "table", "", "the table to read where the file has several, from 1, or all")
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
		return out, nil, usagef("--types: write auto or text")
	}
	if u.columns != "" {
		if err := json.Unmarshal([]byte(u.columns), &out.Columns); err != nil {
			return out, nil, usagef("--columns: write a JSON array of objects: %v", err)
		}
	}
	base, encoding := cutCompression(filepath.Base(name))
	out.ContentEncoding = encoding
	if out.Format == "" {
		out.Format = formatOf[strings.ToLower(filepath.Ext(base))]
	}
	if out.Format == "" && !strings.EqualFold(filepath.Ext(base), ".zip") { // the names in an archive say it
		return out, nil, usagef("say with --format what the file is: %s", formatNames)
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
		Use: "upload FILE", Short: "Make a feed of a file, or give a feed new data", Args: oneArg("say which file, or - for standard input"),
		Long: `Make a feed of a file of CSV, TSV, JSON, NDJSON, XML, Parquet or Arrow, or of a spreadsheet, which may be compressed
(.gz, .zst) or in a zip archive. All of the data is looked at; the columns that were found and what was
noticed about them are printed.`,
	}
	var u uploadFlags
	u.add(cmd)
	replace := cmd.Flags().String("replace", "", "id of a feed that gets the data, in place of what it has unless --mode says otherwise")
	mode := cmd.Flags().String("mode", "", "what becomes of the rows that are there: replace, append or merge; by default as the feed was made, else replace")
	key := cmd.Flags().StringSlice("key", nil, "columns that rows are merged by, with --mode merge")
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
			return usagef("--accept is for the data of a feed that there is: say which with --replace")
		default:
			f, err = c.CreateDataFeed(ctx, data)
		}
		return shown(p, f, err, (*printer).feed)
	})
}

func newFeedsPreview() *cobra.Command {
	cmd := &cobra.Command{
		Use: "preview FILE", Short: "Show what would become of a file, and keep nothing", Args: oneArg("say which file, or - for standard input"),
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
	said       time.Time
}

func (f *progress) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.read += int64(n)
	if done := err == io.EOF; done || time.Since(f.said) > 200*time.Millisecond {
		f.said = time.Now()
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

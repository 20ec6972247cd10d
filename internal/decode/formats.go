package decode

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/csv"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/json"
	"github.com/feedmill/feedmill/internal/decode/layout"
	"github.com/feedmill/feedmill/internal/decode/sheet"
	"github.com/feedmill/feedmill/internal/decode/typed"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// format is a row of the table: a format and how it is read.
type format struct {
	feedmill.Format
	// recognise reports whether text that begins with head is in the format.
	// Whole says that head is all of it.
	recognise func(head []byte, whole bool) bool
	open      func(context.Context, Source, Options) (Table, error)
	// openTyped opens data whose columns have types already; open is then nil.
	openTyped func(context.Context, Source) (Typed, error)
	// openArriving opens data that is still arriving; nil where the format
	// cannot be read before all is there.
	openArriving func(context.Context, Arriving, Options) (Table, error)
	// family is the formats whose pages can be of one table with those of this
	// one, and addPage adds a page to what the family has begun. They are nil
	// where a format does not come in pages.
	family  *family
	addPage func(context.Context, pageReader, pageData) (page, []feedmill.Warning, error)
}

// family is formats whose pages can be of one table.
type family struct {
	name  string
	begin func(Options, *input.Spool) (pageReader, error)
}

var (
	csvFamily = &family{"csv", func(o Options, spool *input.Spool) (pageReader, error) {
		return csv.NewPages(o.csvOptions(0), spool), nil
	}}
	xmlFamily = &family{"xml", func(o Options, _ *input.Spool) (pageReader, error) {
		return &tablePages{options: o}, nil
	}}
	sheetFamily = &family{"spreadsheets", func(o Options, _ *input.Spool) (pageReader, error) {
		return &tablePages{options: o}, nil
	}}
	jsonFamily = &family{"json", func(o Options, spool *input.Spool) (pageReader, error) {
		return json.NewPages(o.jsonOptions(), o.List, spool)
	}}
)

// documentOptions are the parameters of formats whose records lie somewhere in a
// document.
var documentOptions = append([]string{"path", "explode", "encoding", "context"}, valueOptions...)

// xmlDocumentOptions are those of XML, which may be a workbook.
var xmlDocumentOptions = append([]string{"sheet", "header", "footer", "table"}, documentOptions...)

// formats is the table of formats, in the order in which they are listed to
// people.
var formats = []format{
	{
		Format: feedmill.Format{
			Name: "csv", Extensions: []string{".csv"}, Parameters: textOptions,
			MediaTypes: []string{"text/csv", "application/csv", "text/x-csv"},
		},
		recognise: csv.Recognise,
		open:      openCSV(0), openArriving: openArrivingCSV(0), family: csvFamily, addPage: addPageCSV(0),
	},
	{
		Format: feedmill.Format{
			Name: "tsv", Extensions: []string{".tsv", ".tab"}, Parameters: textOptions,
			MediaTypes: []string{"text/tab-separated-values"},
		},
		recognise: csv.RecogniseTabs,
		open:      openCSV('\t'), openArriving: openArrivingCSV('\t'), family: csvFamily, addPage: addPageCSV('\t'),
	},
	{
		Format: feedmill.Format{
			Name: "json", Extensions: []string{".json"}, Parameters: documentOptions,
			MediaTypes: []string{"application/json", "text/json"}, Suffix: "+json",
		},
		recognise: json.Recognise,
		open:      openJSON, family: jsonFamily, addPage: addPageJSON(false),
	},
	{
		Format: feedmill.Format{
			Name: "ndjson", Extensions: []string{".ndjson", ".jsonl"}, Parameters: documentOptions,
			MediaTypes: []string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines"},
		},
		recognise: json.RecogniseLines,
		open:      openLines, openArriving: openArrivingLines,
		family: jsonFamily, addPage: addPageJSON(true),
	},
	{
		Format: feedmill.Format{
			Name: "xlsx", Extensions: []string{".xlsx"}, Parameters: sheetOptions,
			MediaTypes: []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		},
		recognise: sheet.RecogniseXLSX, open: openSheet("xlsx"), family: sheetFamily, addPage: addPageSheet("xlsx"),
	},
	{
		Format: feedmill.Format{
			Name: "xlsm", Extensions: []string{".xlsm"}, Parameters: sheetOptions,
			MediaTypes: []string{"application/vnd.ms-excel.sheet.macroenabled.12"},
		},
		recognise: func([]byte, bool) bool { return false }, open: openSheet("xlsx"), family: sheetFamily, addPage: addPageSheet("xlsx"),
	},
	{
		Format: feedmill.Format{
			Name: "xlsb", Extensions: []string{".xlsb"}, Parameters: sheetOptions,
			MediaTypes: []string{"application/vnd.ms-excel.sheet.binary.macroenabled.12"},
		},
		recognise: sheet.RecogniseXLSB, open: openSheet("xlsb"), family: sheetFamily, addPage: addPageSheet("xlsb"),
	},
	{
		Format: feedmill.Format{
			Name: "xls", Extensions: []string{".xls"}, Parameters: sheetOptions,
			MediaTypes: []string{"application/vnd.ms-excel"},
		},
		recognise: sheet.RecogniseXLS, open: openSheet("xls"), family: sheetFamily, addPage: addPageSheet("xls"),
	},
	{
		Format: feedmill.Format{
			Name: "ods", Extensions: []string{".ods"}, Parameters: sheetOptions,
			MediaTypes: []string{"application/vnd.oasis.opendocument.spreadsheet"},
		},
		recognise: sheet.RecogniseODS, open: openSheet("ods"), family: sheetFamily, addPage: addPageSheet("ods"),
	},
	{
		Format: feedmill.Format{
			Name: "xml", Extensions: []string{".xml"}, Parameters: xmlDocumentOptions,
			MediaTypes: []string{"application/xml", "text/xml", "*+xml"},
		},
		recognise: xml.Recognise,
		open: func(ctx context.Context, data Source, o Options) (Table, error) {
			return openXML(ctx, data, o, o.xmlOptions(), false)
		},
		family: xmlFamily, addPage: addPageXML,
	},
	{
		Format: feedmill.Format{
			Name: "parquet", Extensions: []string{".parquet"},
			MediaTypes: []string{"application/vnd.apache.parquet", "application/x-parquet"},
		},
		recognise: typed.RecogniseParquet,
		openTyped: func(ctx context.Context, data Source) (Typed, error) { return typed.OpenParquet(ctx, data) },
	},
	{
		Format: feedmill.Format{
			Name: "arrow", Extensions: []string{".arrow", ".arrows", ".feather"},
			MediaTypes: []string{"application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"},
		},
		recognise: typed.RecogniseArrow,
		openTyped: func(ctx context.Context, data Source) (Typed, error) { return typed.OpenArrow(ctx, data) },
	},
}

// webPage is a page with tables, which is read only where it was said to be a workbook.
var webPage = format{Format: feedmill.Format{Name: "html"}, open: openSheet("html")}

// Formats are the formats of the table.
func Formats() feedmill.Formats {
	return listFormats(func(f format) bool { return f.open != nil || f.openTyped != nil })
}

// PageFormats are the formats of the table, of which only those count as readable
// that an answer of a source can have.
func PageFormats() feedmill.Formats {
	return listFormats(func(f format) bool { return f.family != nil || f.openTyped != nil })
}

func listFormats(readable func(format) bool) (list feedmill.Formats) {
	for _, f := range formats {
		f.Readable = readable(f)
		list = append(list, f.Format)
	}
	return list
}

// HasSheets reports whether data in a format is always a workbook. XML may be one.
func HasSheets(name string) bool {
	f, _ := Formats().Named(name)
	return name != "xml" && slices.Contains(f.Parameters, "sheet")
}

// Recognise returns the name of the format of data that begins with head, and is
// that alone where whole is set; it is empty where the data looks like none.
func Recognise(head []byte, whole bool) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, f := range formats {
		if f.recognise != nil && f.recognise(head, whole) {
			return f.Name
		}
	}
	return ""
}

func openCSV(delimiter byte) func(context.Context, Source, Options) (Table, error) {
	return func(ctx context.Context, data Source, o Options) (Table, error) {
		return csv.Open(ctx, data, o.csvOptions(delimiter))
	}
}

func openArrivingCSV(delimiter byte) func(context.Context, Arriving, Options) (Table, error) {
	return func(_ context.Context, data Arriving, o Options) (Table, error) {
		return csv.OpenArriving(data, o.csvOptions(delimiter))
	}
}

func addPageCSV(delimiter byte) func(context.Context, pageReader, pageData) (page, []feedmill.Warning, error) {
	return func(ctx context.Context, pages pageReader, in pageData) (page, []feedmill.Warning, error) {
		return pages.(*csv.Pages).Add(ctx, in.data, delimiter, in.first, in.each)
	}
}

// xmlOptions are the options of an XML document, whose records stay where they
// were found before.
func (o Options) xmlOptions() xml.Options {
	out := xml.Options{Path: o.Path, Rules: o.Rules, Context: o.context(), Explode: o.Explode, Encoding: o.Encoding, Charset: o.Charset, Temp: o.Temp}
	if before := o.Before.Path; o.Path == "" && before.By == feedmill.ByFound && strings.HasPrefix(before.Value, "/") {
		out.Path, out.Remembered = before.Value, true
	}
	return out
}

// saidByTheWay is the encoding of JSON that was said by the way, where there is such a one and the data is neither
// UTF-8 nor UTF-16, as JSON should be. An encoding that was set comes first.
func (o Options) saidByTheWay(ctx context.Context, data Source) (string, error) {
	encoding, legacy := o.legacyCharset()
	if !legacy {
		return "", nil
	}
	var head [2]byte
	if data.Size() < int64(len(head)) || input.ReadFull(data, head[:], 0) != nil || head[0] == 0 || head[1] == 0 || head[0] >= 0xfe {
		return "", nil
	}
	if utf8, err := input.IsUTF8(ctx, data); err != nil || utf8 {
		return "", err
	}
	return string(encoding), nil
}

// legacyCharset is an encoding that is not of Unicode and that was said by the way.
func (o Options) legacyCharset() (input.Encoding, bool) {
	encoding, ok := input.EncodingNamed(o.Charset)
	return encoding, ok && o.Encoding == "" && encoding != input.UTF8 && !strings.HasPrefix(string(encoding), "utf-16")
}

func (o Options) jsonOptions() json.Options {
	out := json.Options{Path: o.Path, Rules: o.Rules, Context: o.context(), Explode: o.Explode, Encoding: o.Encoding, Temp: o.Temp}
	if o.Before.Path.By == feedmill.ByFound && strings.HasPrefix(o.Before.Path.Value, "$") {
		out.Before = o.Before.Path.Value
	}
	for _, before := range o.Before.Candidates {
		out.Fields = append(out.Fields, before.Fields...)
	}
	return out
}

func openJSON(ctx context.Context, data Source, o Options) (Table, error) {
	said, err := o.saidByTheWay(ctx, data)
	if err != nil {
		return nil, err
	}
	options := o.jsonOptions()
	options.Charset = said
	return json.Open(ctx, data, options)
}

func openLines(ctx context.Context, data Source, o Options) (Table, error) {
	said, err := o.saidByTheWay(ctx, data)
	if err != nil {
		return nil, err
	}
	options := o.jsonOptions()
	options.Charset = said
	return json.OpenLines(ctx, data, options)
}

func openArrivingLines(ctx context.Context, data Arriving, o Options) (Table, error) {
	if _, legacy := o.legacyCharset(); legacy {
		return nil, ErrArriving // only all of it tells whether it is that
	}
	return json.OpenLines(ctx, data, o.jsonOptions())
}

func addPageJSON(lines bool) func(context.Context, pageReader, pageData) (page, []feedmill.Warning, error) {
	return func(ctx context.Context, pages pageReader, in pageData) (page, []feedmill.Warning, error) {
		return pages.(*json.Pages).Add(ctx, in.data, lines, in.first, in.before, in.each)
	}
}

func addPageXML(ctx context.Context, pages pageReader, in pageData) (page, []feedmill.Warning, error) {
	p := pages.(*tablePages)
	options := p.options.xmlOptions()
	if found := p.found.Path; options.Path == "" && found.By == feedmill.ByFound && strings.HasPrefix(found.Value, "/") {
		options.Path, options.Remembered = found.Value, true
	}
	table, err := openXML(ctx, in.data, p.options, options, true)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := table.(*plistTable); ok { // whose columns are known once it was read
		if err := table.Each(ctx, 1, func(*columnar.Cells) error { return nil }); err != nil {
			return nil, nil, err
		}
	}
	return p.add(ctx, table, in)
}

func (o Options) sheetOptions() sheet.Options {
	out := sheet.Options{Sheet: o.Sheet, Path: o.Path, Temp: o.Temp, Extent: o.extent(), Rules: o.Rules}
	if o.Path != "" && o.Rules >= 2 {
		out.Extent = layout.Extent{Footer: layout.KeepFooter} // a range names every row of it
	}
	out.Header, _ = headerOf(o.Header)
	return out
}

func openSheet(format string) func(context.Context, Source, Options) (Table, error) {
	return func(ctx context.Context, data Source, o Options) (Table, error) {
		return sheet.Open(ctx, format, data, o.sheetOptions())
	}
}

func addPageSheet(format string) func(context.Context, pageReader, pageData) (page, []feedmill.Warning, error) {
	return func(ctx context.Context, pages pageReader, in pageData) (page, []feedmill.Warning, error) {
		p := pages.(*tablePages)
		options := p.options.sheetOptions()
		options.Page = true
		table, err := sheet.Open(ctx, cmp.Or(sheet.Kind(in.data), format), in.data, options)
		if err != nil {
			return nil, nil, err
		}
		return p.add(ctx, table, in)
	}
}

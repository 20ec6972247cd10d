// Package decode turns the bytes of an upload or an answer into records of
// cells, without any thought of types: that is the business of modelling,
// which is the same for every format.
//
// formats.go has the table of formats: what each is called and how it is told, and
// how it is opened. Each is read in a folder of its own, csv, json, xml and sheet, and those that have
// types of their own in typed; what they share is in input. A format is read from a [Source], a file that is there in full,
// because what a file is can often be said at its end only: whether it is UTF-8, whether
// its quotes close, how many columns it has. Some can be read while they arrive, too.
// Bytes that are compressed pass through [Decompress] first.
//
// What is opened is a [Table]: Each gives all records to several goroutines at the
// same time and finds out what there is to know of the whole file; after it the
// records are there in blocks, for Read. [Pages] is a table that comes in pieces,
// each data of its own, one after the other.
//
// What the data itself is at fault for is refused with a [feedmill.Error] of the
// kind [feedmill.ErrUnprocessable] that says where, and what can be put right
// is, with a [feedmill.Warning].
package decode

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Source is data that is there in full.
type Source = input.Source

// Arriving is a source that grows while it is read.
type Arriving = input.Arriving

// ErrArriving means that data cannot be read while it arrives, and that nothing
// is said about what it is.
var ErrArriving = input.ErrArriving

// Table is data whose records can be read, as often as needed.
type Table interface {
	// Each gives all records to fn in runs, from as many goroutines as there
	// are workers; fn must not keep a run. The runs come in any order, but a
	// record has the same number and the same cells each time.
	Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error
	// Names are what the data calls the columns, empty where it does not.
	// They and what follows are known after Each.
	Names() []string
	// Units and Formats are what the data says of its columns besides: the units of their values,
	// and their number formats. Nil is none.
	Units() []string
	Formats() []string
	Rows() int64
	// Warnings are what was noticed.
	Warnings() ([]feedmill.Warning, error)
	// Found is how the data is written.
	Found() feedmill.Findings
	// Blocks is how many parts the records can be read in.
	Blocks() int
	// Read gives the records of the blocks [from, to) to fn, in order. Several
	// goroutines may call it.
	Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error
	// Close gives up what reading takes besides memory.
	Close() error
}

// Typed is data whose columns have types already, so that there is nothing to model.
type Typed interface {
	// Columns are what the data calls its columns, and their types.
	Columns() []feedmill.Column
	// Runs yields all rows in their order, up to the first error.
	Runs(ctx context.Context) iter.Seq2[[]columnar.Vector, error]
	// Warnings are what was noticed, once all rows were read, with the names that the columns
	// were given.
	Warnings(named []feedmill.Column) []feedmill.Warning
	Close() error
}

// IsTyped reports whether data in a format has types already, and is opened with [OpenTyped].
func IsTyped(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.Name == name && f.openTyped != nil })
}

// OpenTyped opens data in a format that has types.
func OpenTyped(ctx context.Context, format string, data Source) (Typed, error) {
	for i := range formats {
		if f := &formats[i]; f.Name == format && f.openTyped != nil {
			return f.openTyped(ctx, data)
		}
	}
	return nil, fmt.Errorf("%q is not a format with column types", format)
}

// Options say how data is read. Which of them a format takes the table of formats
// says.
type Options struct {
	// Path and Explode are those of [json.Options] and [xml.Options].
	Path, Explode string
	// Sheet is that of [sheet.Options].
	Sheet int
	// Rules is the version of the rules that the data is read by.
	Rules feedmill.Rules
	feedmill.ReadingOptions
	// Charset is the encoding that was said by the way, empty for none.
	Charset string
	// Before is what was found in the data before this, which decides where this
	// proves nothing.
	Before feedmill.Findings
	// Paginated are the JSONPaths of members that the pagination of a source uses, or the names of
	// elements and attributes.
	Paginated []string
	// List says of pages that they are parts of a list, see [json.NewPages].
	List bool
	// Temp is the folder for a temporary file, which data takes that has to be
	// written again; empty is that of the system.
	Temp string
}

// Open finds the records of data in a format.
func Open(ctx context.Context, format string, data Source, options Options) (Table, error) {
	f, err := formatNamed(format)
	if err != nil {
		return nil, err
	}
	actual, err := actualFormat(format, data, options)
	if err != nil {
		return nil, err
	}
	if actual == format {
		return f.open(ctx, data, options)
	}
	if f, err = formatNamed(actual); err != nil {
		return nil, err
	}
	if options.Sheet != 0 && options.Rules >= 2 && !slices.Contains(f.Parameters, "sheet") && f != &webPage {
		return nil, feedmill.Invalid("The data has no sheets.", feedmill.Fault{
			Parameter: "sheet", Detail: fmt.Sprintf("sheet applies only to workbooks; the data was sent as %s but is %s.", format, actual),
		})
	}
	table, err := f.open(ctx, data, options)
	if err != nil {
		return nil, err
	}
	return mistaken{table, format, actual}, nil
}

// OpenArriving is [Open] for data that is not yet there in full, of which the first
// reading takes in what is there. It or that reading fails with [ErrArriving], or
// in another way if there is a fault, where the data has to be opened again once
// it is there.
func OpenArriving(ctx context.Context, format string, data Arriving, options Options) (Table, error) {
	f, err := formatNamed(format)
	if err != nil {
		return nil, err
	}
	if f.openArriving == nil {
		return nil, ErrArriving
	}
	if actual, err := actualFormat(format, data, options); err != nil || actual != format {
		return nil, ErrArriving
	}
	return f.openArriving(ctx, data, options)
}

// formatNamed returns a row of the table that can be opened.
func formatNamed(name string) (*format, error) {
	if name == webPage.Name {
		return &webPage, nil
	}
	for i := range formats {
		if f := &formats[i]; f.Name == name && f.open != nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%q is not a supported format", name)
}

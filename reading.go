package feedmill

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Format is a format of data: what it is called and how it is told.
type Format struct {
	Name string
	// MediaTypes are those that it is sent as, the best first. One that begins with a
	// star stands for all that end so, as *+xml does.
	MediaTypes []string
	// Suffix is how other media types end whose data is in the format, such as
	// +json; empty where there is none.
	Suffix string
	// Extensions are how the names of its files end, in small letters and with
	// the dot.
	Extensions []string
	// Parameters are those parameters of a request that say how it is read and
	// that not every format takes.
	Parameters []string
	// Readable says that data in it can be read. The other formats are only
	// known.
	Readable bool
}

// Formats are all formats that are known.
type Formats []Format

// Named returns the format of that name.
func (f Formats) Named(name string) (Format, bool) {
	return f.find(func(f Format) bool { return f.Name == name })
}

// OfMediaType returns the readable format that is sent as a media type.
func (f Formats) OfMediaType(mediaType string) (Format, bool) {
	return f.find(func(f Format) bool {
		return f.Readable && slices.ContainsFunc(f.MediaTypes, func(known string) bool {
			end, any := strings.CutPrefix(known, "*")
			return known == mediaType || any && strings.HasSuffix(mediaType, end)
		})
	})
}

// OfSuffix returns the readable format that a media type of its own is built on.
func (f Formats) OfSuffix(mediaType string) (Format, bool) {
	return f.find(func(f Format) bool { return f.Readable && f.Suffix != "" && strings.HasSuffix(mediaType, f.Suffix) })
}

// OfExtension returns the readable format of files whose names end so, with the
// dot.
func (f Formats) OfExtension(extension string) (Format, bool) {
	extension = strings.ToLower(extension)
	return f.find(func(f Format) bool { return f.Readable && slices.Contains(f.Extensions, extension) })
}

func (f Formats) find(is func(Format) bool) (Format, bool) {
	if i := slices.IndexFunc(f, is); i >= 0 {
		return f[i], true
	}
	return Format{}, false
}

// Readable returns the formats that data can be read in.
func (f Formats) Readable() Formats {
	return slices.DeleteFunc(slices.Clone(f), func(f Format) bool { return !f.Readable })
}

// Names are the names of the formats.
func (f Formats) Names() []string {
	names := make([]string, len(f))
	for i := range f {
		names[i] = f[i].Name
	}
	return names
}

// Parameters are those that any of the formats takes.
func (f Formats) Parameters() []string {
	var all []string
	for _, format := range f {
		for _, name := range format.Parameters {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Reading says how records are read from data.
type Reading struct {
	// Format is the name of one of [Formats].
	Format string
	// Path says where the records of a document are, and Explode where in
	// a record the array is whose elements become rows.
	Path, Explode string
	// Sheet is the number of a worksheet, from 1; 0 is the first.
	Sheet int
	// Text leaves every column text.
	Text bool
	// Rules is the version of the rules that the data is read by.
	Rules Rules
	// Year is when the feed was created, 0 for now.
	Year int
	ReadingOptions
	// Charset is the encoding that the media type of the data names, empty for none. It
	// decides where the data does not tell.
	Charset string
	// Before is what was found in the data that the feed has. It decides where
	// the new data proves nothing.
	Before Findings
}

// ReadingOptions are the way out where what is found in data is not what was
// meant. What is empty is found.
type ReadingOptions struct {
	// Delimiter is a character or tab, and Quote a character or none.
	Delimiter string `json:"delimiter,omitzero"`
	Quote     string `json:"quote,omitzero"`
	// Encoding is one of the names of the WHATWG.
	Encoding string `json:"encoding,omitzero"`
	// Header is the line of the header, from 1, or none.
	Header string `json:"header,omitzero"`
	// Nulls are the texts that mean null, separated by commas, or none.
	Nulls string `json:"nulls,omitzero"`
	// Decimal is the character before the fraction of a number: a point or a
	// comma.
	Decimal string `json:"decimal,omitzero"`
	// Dates is the order of the parts of a date: dmy, mdy or ymd.
	Dates string `json:"dates,omitzero"`
	// Timezone is where times without an offset are from; empty is UTC.
	Timezone string `json:"timezone,omitzero"`
	// Footer is keep, to keep every row below the table, or drop, to drop rows below
	// it by the rule of the first version of the rules.
	Footer string `json:"footer,omitzero"`
	// Table is the number of the table of a file that has several, from 1, or all, to
	// keep every row of the file as one table.
	Table string `json:"table,omitzero"`
	// Context is true, to add the values around the records of a document as columns, or false.
	Context string `json:"context,omitzero"`
}

// ReadingOptionNames are the names of the options, as requests have them.
var ReadingOptionNames = []string{"delimiter", "quote", "encoding", "header", "nulls", "decimal", "dates", "timezone", "footer", "table", "context"}

// Option is the field of the option of that name, nil where there is none.
func (o *ReadingOptions) Option(name string) *string {
	fields := []*string{&o.Delimiter, &o.Quote, &o.Encoding, &o.Header, &o.Nulls, &o.Decimal, &o.Dates, &o.Timezone, &o.Footer, &o.Table, &o.Context}
	for i, known := range ReadingOptionNames {
		if known == name {
			return fields[i]
		}
	}
	return nil
}

// How a finding was made.
const (
	ByFound   = "found"   // the data proves it
	ByAssumed = "assumed" // the data does not prove it, but speaks for it
	BySet     = "set"     // somebody said so
)

// Finding is one thing that was found about how data is written.
type Finding struct {
	// Value is as the option of the same name takes it.
	Value string
	By    string
}

// Known reports whether there is a finding.
func (f Finding) Known() bool { return f.By != "" }

// IsZero reports whether there is none.
func (f Finding) IsZero() bool { return !f.Known() }

// Found is a finding that the data proves, where proven is set.
func Found(value string, proven bool) Finding {
	if proven {
		return Finding{value, ByFound}
	}
	return Finding{value, ByAssumed}
}

// SetOr is the value that was set where there is one, and else the finding.
func SetOr(set string, found Finding) Finding {
	if set != "" {
		return Finding{set, BySet}
	}
	return found
}

// Findings is how data is written, as far as its format knows such things. It
// has the names of [ReadingOptions].
type Findings struct {
	Delimiter Finding     `json:"delimiter,omitzero"`
	Quote     Finding     `json:"quote,omitzero"`
	Encoding  Finding     `json:"encoding,omitzero"`
	Header    LineFinding `json:"header,omitzero"`
	Nulls     Finding     `json:"nulls,omitzero"`
	Decimal   Finding     `json:"decimal,omitzero"`
	Dates     Finding     `json:"dates,omitzero"`
	Timezone  Finding     `json:"timezone,omitzero"`
	Footer    Finding     `json:"footer,omitzero"`
	Table     Finding     `json:"table,omitzero"`
	Context   Finding     `json:"context,omitzero"`
	// Thousands are the columns, by what the data calls them, in which commas were assumed to
	// separate thousands.
	Thousands []string `json:"thousands,omitzero"`
	// Path leads to the records of a document.
	Path Finding `json:"path,omitzero"`
	// Sheet is the number of the worksheet that was asked for, and Sheets are those
	// of the workbook.
	Sheet  Finding `json:"sheet,omitzero"`
	Sheets []Sheet `json:"sheets,omitzero"`
	// Candidates are where the records of a document may be, the place that was taken
	// first. They are for previews and not kept. Of the data before, they are given only
	// where its path is not known.
	Candidates []RecordCandidate `json:"-"`
}

const (
	// MaxCandidates is how many candidates are told of, and MaxCandidateFields how many
	// fields of each.
	MaxCandidates      = 20
	MaxCandidateFields = 50
)

// RecordCandidate is a place of a document where its records may be.
type RecordCandidate struct {
	// Path selects them, as an option of reading.
	Path  string `json:"path"`
	Count int64  `json:"count"`
	// Fields are the names that the first of them has.
	Fields []string `json:"fields"`
}

// Sheet is a worksheet of a workbook.
type Sheet struct {
	// Index is its number, from 1.
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Hidden bool   `json:"hidden"`
}

// Set are the options that somebody has set.
func (f Findings) Set() (o ReadingOptions) {
	for i, finding := range []Finding{f.Delimiter, f.Quote, f.Encoding, f.Header.Finding, f.Nulls, f.Decimal, f.Dates, f.Timezone, f.Footer, f.Table, f.Context} {
		if finding.By == BySet {
			*o.Option(ReadingOptionNames[i]) = finding.Value
		}
	}
	return o
}

// findingText is a finding as JSON has it.
type findingText struct {
	Value json.RawMessage `json:"value"`
	By    string          `json:"by"`
}

// MarshalJSON writes value and by.
func (f Finding) MarshalJSON() ([]byte, error) {
	value, err := json.Marshal(f.Value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(findingText{value, f.By})
}

// UnmarshalJSON reads value, which may be a number, and by.
func (f *Finding) UnmarshalJSON(text []byte) error {
	var t findingText
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("a finding: %w", err)
	}
	f.By = t.By
	if len(t.Value) > 0 && t.Value[0] != '"' {
		f.Value = string(t.Value)
		return nil
	}
	return json.Unmarshal(t.Value, &f.Value)
}

// LineFinding is a finding whose value is the number of a line in JSON, where it
// is one.
type LineFinding struct{ Finding }

// MarshalJSON writes value and by.
func (f LineFinding) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(f.Value, 10, 63); err != nil {
		return f.Finding.MarshalJSON()
	}
	return json.Marshal(findingText{json.RawMessage(f.Value), f.By})
}

// IsZero reports whether nothing was found.
func (f Findings) IsZero() bool { return reflect.DeepEqual(f, Findings{}) }

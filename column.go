package feedmill

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Column is one column of a feed.
type Column struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// SourceName is what the data calls the column. It may be empty or the
	// same as another's; Name is neither.
	SourceName string `json:"sourceName"`
	// Description says what is in the column, such as the unit of its values.
	Description string        `json:"description,omitempty"`
	Type        columnar.Type `json:"type"`
	// Format says how the values were written where the type does not, such
	// as "EUR", "percent" or "dd/mm/yyyy".
	Format   string `json:"format,omitempty"`
	Nullable bool   `json:"nullable"`
	// Hidden leaves the column out where it is not asked for by its name.
	Hidden bool `json:"hidden"`

	// Precision and Scale are those of a decimal.
	Precision int `json:"-"`
	Scale     int `json:"-"`
	// Position is the place of the column where columns are shown, from 1. Those
	// without one come after the others.
	Position int `json:"-"`
	// Fixed says that somebody has set the type: values that do not fit are
	// misfits, and do not widen it.
	Fixed bool `json:"-"`
	// Retype is the type that the column is to have from the next version on, empty
	// where it stays.
	Retype columnar.Type `json:"retype,omitzero"`
	// FormatSet says that a user has set Format, and DataFormat is then the format that
	// the data itself has: a label does not make later data differ from it.
	FormatSet  bool   `json:"-"`
	DataFormat string `json:"-"`
	// OnMisfit is what becomes of values that do not fit a type that was set.
	OnMisfit MisfitPolicy `json:"-"`
}

// Number is the number in the column's id (7 for "c7"). It also is the id of its field in
// Parquet files, so that a reader finds the column wherever it is and whatever it is called.
// It is 0 for a column without such an id, such as an aggregate.
func (c *Column) Number() int {
	digits, ok := strings.CutPrefix(c.ID, "c")
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || n < 1 {
		return 0
	}
	return int(n)
}

// LastNumber is the greatest of a number and those of columns.
func LastNumber(last int, columns []Column) int {
	for i := range columns {
		last = max(last, columns[i].Number())
	}
	return last
}

// MisfitPolicy is what becomes of values that are not of the type that somebody
// has given their column.
type MisfitPolicy string

// The policies.
const (
	MisfitsFail   MisfitPolicy = ""       // the data is refused
	MisfitsNull   MisfitPolicy = "null"   // the value is left out
	MisfitsReject MisfitPolicy = "reject" // the row is left out, and kept among the rejects
)

// TypedTable is rows whose columns have types: what a version is written from.
// Modelling makes one of cells, and a reader of data that has types already gives
// one as it is.
type TypedTable struct {
	Columns []Column
	// Runs yields the rows in their order, some at a time: a vector for each
	// column, which nobody changes any more. They end with the first error. A
	// table may have no columns, and then has no rows.
	Runs iter.Seq2[[]columnar.Vector, error]
}

// The codes of warnings about data.
const (
	// About the text as a whole.
	WarnEncoding       = "assumed-encoding"   // the text is not UTF-8 and is read in another encoding
	WarnFormat         = "other-format"       // the data is in another format than it was said to be
	WarnPreamble       = "skipped-preamble"   // lines before the header are not part of the table
	WarnFooter         = "skipped-footer"     // lines after the table are not part of it
	WarnJoinedHeader   = "joined-header"      // the names of the columns take several lines
	WarnUnits          = "skipped-units"      // a line of units below the header
	WarnRule           = "skipped-rule"       // a line of dashes below the header
	WarnRepeatedHeader = "repeated-header"    // the header stands again in the data
	WarnBlankLines     = "blank-lines"        // lines without anything between the rows
	WarnPadding        = "skipped-padding"    // lines of delimiters after the table
	WarnLines          = "unwrapped-lines"    // every line was in quotes as if it were one field
	WarnBytes          = "replaced-bytes"     // bytes that are not UTF-8 became the mark of replacement
	WarnQuote          = "broken-quote"       // a quote stands where none may, or is not closed
	WarnNoRows         = "no-rows"            // there is a header and nothing else
	WarnShortRows      = "short-rows"         // records with fewer fields than columns
	WarnLongRows       = "long-rows"          // records with more fields than columns
	WarnHeader         = "renamed-column"     // a name is blank, repeated or too long
	WarnNoHeader       = "no-header"          // the first record is data, so the columns are numbered
	WarnKeys           = "duplicate-key"      // an object has a key twice; the last one counts
	WarnShape          = "unshaped-table"     // a JSON table without an object for each row, in a document that is too large to convert
	WarnColumnArrays   = "column-arrays"      // the members of an object are few values each, and are taken for columns
	WarnExplode        = "nothing-exploded"   // no record has anything at the path whose elements become rows
	WarnRecords        = "other-records"      // there are records elsewhere in the document, too
	WarnContext        = "context-left-out"   // values around the records are no columns
	WarnCell           = "error-cell"         // a spreadsheet's error value, which is null
	WarnNumberFormat   = "unreadable-format"  // the number formats of cells cannot be read
	WarnHidden         = "hidden-sheet"       // the sheet that was asked for is hidden
	WarnCutTexts       = "cut-texts"          // texts that did not fit into the cells of a workbook that Feedmill wrote
	WarnHiddenRows     = "hidden-rows"        // rows of the sheet are hidden, and are read all the same
	WarnPreviewCut     = "preview-cut"        // a preview shows fewer rows, because they are large
	WarnWidened        = "widened-column"     // a later version has values that the old type cannot hold
	WarnMissing        = "missing-column"     // a later version lacks the column
	WarnAdded          = "added-column"       // a later version has one more
	WarnDates          = "ambiguous-date"     // day and month cannot be told apart
	WarnLocale         = "ambiguous-number"   // decimal and thousands separators cannot be told apart
	WarnCurrency       = "mixed-currencies"   // amounts in several currencies
	WarnDigits         = "too-many-digits"    // a number fits neither a decimal nor a float exactly
	WarnMisfit         = "mixed-types"        // a few values keep the column from its type
	WarnTokens         = "null-tokens"        // texts that mean null
	WarnAssumedLocale  = "assumed-locale"     // other columns tell which decimal separator it is
	WarnAssumedOrder   = "assumed-date-order" // other dates tell whether the day comes first
	WarnYearsAhead     = "years-ahead"        // years that look like those of the Buddhist calendar
	WarnWrapped        = "unwrapped-text"     // texts that Excel has written as formulas
	WarnNumericText    = "numeric-text"       // numbers that the source says are text, or with something around them that no rule reads
	WarnNothingFound   = "nothing-found"      // the path of a column finds nothing in any record
	WarnMorePages      = "more-pages"         // the source says that there are more pages than were asked for
	WarnPossibleError  = "possible-error"     // a response without records reports an error
	WarnCutLists       = "cut-lists"          // lists inside records have more pages, which were not asked for
	WarnRepeated       = "repeated-page"      // a later page has the records of the first one
	WarnIgnored        = "ignored-page"       // the pages end with an answer that a rule ignores
	WarnRejected       = "rejected-rows"      // rows that were left out because a value did not fit
	WarnNulled         = "misfits-made-null"  // values that were left out because they did not fit
	WarnCentury        = "assumed-century"    // years of two digits are taken for those of the past century
	WarnFutureDates    = "future-dates"       // all years of two digits are in the future
	WarnThousands      = "assumed-thousands"  // commas are taken for separators of thousands
	WarnSecondTable    = "second-table"       // the file has another table, which is not read
	WarnAssumedHeader  = "assumed-header"     // nothing proves that the first row has the names
	WarnDuplicateKeys  = "duplicate-keys"     // several rows of a load have the same key
	WarnNotDeleted     = "not-deleted"        // rows were not deleted, because the fetch is not complete
	WarnNullCursor     = "null-cursor"        // rows without a value of the field that tells what is new
	WarnCursorAhead    = "cursor-ahead"       // times ahead that do not tell what is new
	WarnKeyText        = "key-text"           // keys with fractions that became text
	WarnMultiplied     = "multiplied-rows"    // rows that have several matches in a join
	WarnZoneChanged    = "zone-changed"       // times that have a time zone now, or have none now
	WarnCursorBehind   = "cursor-behind"      // the source has no row any more at the position that was reached
	WarnPinned         = "pinned"             // types that an earlier release did not store
	WarnPart           = "part-of-the-data"   // a preview of a service's records that has not looked at all of them

	// About times without an offset.
	WarnNoLocalTime   = "nonexistent-local-time" // clocks skip them when they are set forward
	WarnTwoLocalTimes = "ambiguous-local-time"   // clocks show them twice when they are set back

	// About data whose columns have types.
	WarnDescriptions = "skipped-descriptions" // lines below the header that describe the columns

	WarnTimeDigits = "cut-times"    // times that are finer than microseconds
	WarnOutOfRange = "out-of-range" // days outside the years 1 to 9999, which are null
	WarnNotFinite  = "not-finite"   // infinite numbers and NaN, which JSON has not
	WarnBadText    = "invalid-text" // bytes in a text that are not UTF-8
	WarnBadJSON    = "invalid-json" // JSON that is none, kept as a string
	WarnNoEnd      = "no-end-mark"  // a stream that may have been cut
	WarnTruth      = "other-truths" // numbers other than 0 and 1 that are booleans
)

// Warning is something about the data that was noticed and put right, or left
// alone, and that its owner should know of.
type Warning struct {
	// Code is the stable name of what was noticed.
	Code string `json:"code"`
	// Column is the name of the column it concerns, empty where it is none.
	Column string `json:"column,omitempty"`
	// Count is how often it was seen, and FirstRow the first row where it
	// was, counted from 1 without the header; 0 where it is no row.
	Count    int64 `json:"count"`
	FirstRow int64 `json:"firstRow,omitempty"`
	// Examples are the first few.
	Examples []Example `json:"examples,omitempty"`
	// Detail says what it means and what to do about it.
	Detail string `json:"detail"`
}

// Example is a value that a warning is about.
type Example struct {
	// Row and Line say where it stands, from 1; 0 where that is not known.
	Row   int64  `json:"row,omitzero"`
	Line  int64  `json:"line,omitzero"`
	Value string `json:"value"`
}

// MaxSourceName is how many bytes the name of a column or a view can have in a source.
const MaxSourceName = 1 << 10

// CheckSourceNames refuses the first name that is too long. What it is the name of is
// "column", for example.
func CheckSourceNames(what string, names []string) error {
	for i, name := range names {
		if len(name) <= MaxSourceName {
			continue
		}
		return &Error{
			Kind: ErrUnprocessable, Type: "name-too-long", Title: "A name is too long",
			Detail: fmt.Sprintf("The name of %s %d has %d bytes; the maximum is %d. It starts with %q. Shorten it in the source.", what, i+1, len(name), MaxSourceName, CutText(name, 40)),
		}
	}
	return nil
}

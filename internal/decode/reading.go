package decode

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/csv"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// The options that a format takes.
var (
	valueOptions = []string{"nulls", "decimal", "dates", "timezone"}
	sheetOptions = append([]string{"sheet", "path", "header", "footer", "table"}, valueOptions...)
	textOptions  = append([]string{"delimiter", "quote", "encoding", "header", "footer", "table"}, valueOptions...)
)

// CheckReading returns what is wrong with the options by which data is to be
// read, each with the name of its parameter. It is a table: one check for each option.
func CheckReading(o feedmill.ReadingOptions) (faults []feedmill.Fault) {
	fault := func(name, detail string) { faults = append(faults, feedmill.Fault{Parameter: name, Detail: detail}) }
	if _, ok := delimiterOf(o.Delimiter); !ok {
		fault("delimiter", "delimiter must be one ASCII character that is not a letter, digit, quote or line end, or the word tab.")
	}
	if _, ok := quoteOf(o.Quote); !ok {
		fault("quote", "quote must be one ASCII character that is not a letter, digit, space or line end, or the word none.")
	}
	if delimiter, _ := delimiterOf(o.Delimiter); delimiter != 0 && o.Quote != "" && o.Quote != "none" && delimiter == o.Quote[0] {
		fault("quote", "quote must differ from delimiter.")
	}
	if _, ok := input.EncodingNamed(o.Encoding); o.Encoding != "" && !ok {
		fault("encoding", "encoding is not a known encoding; use a WHATWG name such as utf-8, windows-1252 or shift_jis.")
	}
	if _, ok := headerOf(o.Header); !ok {
		fault("header", "header must be a line number from 1, or the word none.")
	}
	if o.Decimal != "" && o.Decimal != "." && o.Decimal != "," {
		fault("decimal", "decimal must be a point or a comma.")
	}
	if o.Dates != "" && o.Dates != "dmy" && o.Dates != "mdy" && o.Dates != "ymd" {
		fault("dates", "dates must be dmy, mdy or ymd.")
	}
	if _, err := time.LoadLocation(o.Timezone); err != nil || o.Timezone == "Local" {
		fault("timezone", "timezone is not a known time zone; use an IANA name such as Europe/Paris.")
	}
	if o.Footer != "" && o.Footer != "keep" && o.Footer != "drop" {
		fault("footer", "footer must be keep or drop.")
	}
	if _, ok := tableOf(o.Table); !ok {
		fault("table", fmt.Sprintf("table must be a number from 1 to %d, or all.", layout.MaxTables))
	}
	if o.Context != "" && o.Context != "true" && o.Context != "false" {
		fault("context", "context must be true or false.")
	}
	return faults
}

// context is what becomes of the values around the records of a document. The warning that they are left out is for the first data of
// a feed, and the first version of the rules does not have it.
func (o Options) context() input.Context {
	return input.Context{Columns: o.Context == "true", Warn: o.Context == "" && o.Rules >= 2 && !o.Before.Path.Known(), Used: o.Paginated}
}

// extent is which rows of a file are of its table. The first version of the rules drops
// footers by another rule, and knows of one table.
func (o Options) extent() layout.Extent {
	e := layout.Extent{Footer: layout.DropNotes}
	switch {
	case o.Footer == "keep":
		e.Footer = layout.KeepFooter
	case o.Footer == "" && o.Rules == feedmill.RulesOriginal:
		e.Footer = layout.DropShort
	case o.Footer == "drop", o.Rules < 2:
		e.Footer = layout.DropFooter
	}
	e.Table, _ = tableOf(o.Table)
	if o.Table == "" && o.Rules >= 2 {
		e.Table = 1
	}
	return e
}

// tableOf is the number of a table of an option, 0 for all.
func tableOf(text string) (number int, ok bool) {
	if text == "" || text == "all" {
		return 0, true
	}
	number, err := strconv.Atoi(text)
	return number, err == nil && number > 0 && number <= layout.MaxTables && text[0] != '+'
}

// csvOptions are the options of a table of separated fields.
func (o Options) csvOptions(delimiter byte) csv.Options {
	out := csv.Options{Delimiter: delimiter, Encoding: o.Encoding, Charset: o.Charset, Temp: o.Temp, Before: o.Before, Extent: o.extent(), Rules: o.Rules}
	if given, _ := delimiterOf(o.Delimiter); given != 0 {
		out.Delimiter, out.DelimiterSet = given, true
	}
	out.Quote, _ = quoteOf(o.Quote)
	out.Header, _ = headerOf(o.Header)
	return out
}

func delimiterOf(text string) (delimiter byte, ok bool) {
	switch {
	case text == "":
		return 0, true
	case text == "tab":
		return '\t', true
	}
	return text[0], len(text) == 1 && !isWord(text[0]) && !strings.ContainsAny(text, "\"\r\n\x00")
}

// quoteOf is the quote of an option: [csv.NoQuote] for none, and 0 where it is to
// be found.
func quoteOf(text string) (quote byte, ok bool) {
	switch text {
	case "":
		return 0, true
	case "none":
		return csv.NoQuote, true
	}
	return text[0], len(text) == 1 && !isWord(text[0]) && !strings.ContainsAny(text, " \t\r\n\x00")
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// headerOf is the line of an option: [csv.NoHeader] for none, and 0 where it is
// to be found.
func headerOf(text string) (line int64, ok bool) {
	switch text {
	case "":
		return 0, true
	case "none":
		return csv.NoHeader, true
	}
	line, err := strconv.ParseInt(text, 10, 32)
	return line, err == nil && line > 0
}

package csv

import (
	"bytes"
	"strconv"

	"github.com/feedmill/feedmill"
)

// fast reports whether records of the dialect can be found without looking at
// every byte: quotes are the usual ones and are doubled inside quotes.
func (d Dialect) fast() bool {
	return !d.Padded && d.Spaces == 0 && (d.Quote == 0 || d.Quote == '"' && d.Escape == '"')
}

// Found is how the table is written.
func (c *Table) Found() feedmill.Findings {
	o := c.options
	f := feedmill.Findings{
		Delimiter: feedmill.Found(characterName(c.Dialect.Delimiter), c.columns > 1),
		Quote:     feedmill.Found(characterName(c.Dialect.Quote), c.quoted()),
		Encoding:  c.text.Found(),
	}
	if o.DelimiterSet {
		f.Delimiter.By = feedmill.BySet
	}
	if o.Quote != 0 {
		f.Quote.By = feedmill.BySet
	}
	if o.Encoding != "" {
		f.Encoding.By = feedmill.BySet
	}
	f.Header.Finding = feedmill.Found("none", true)
	if c.headerLine > 0 {
		f.Header.Finding = feedmill.Found(strconv.FormatInt(c.headerLine, 10), o.Rules <= feedmill.RulesFirst || !c.assumed)
	}
	if o.Header != 0 {
		f.Header.By = feedmill.BySet
	}
	return f
}

// characterName is a character as options have it.
func characterName(c byte) string {
	switch c {
	case '\t':
		return "tab"
	case 0:
		return "none"
	}
	return string(rune(c))
}

// quoted reports whether any quote was seen.
func (c *Table) quoted() bool {
	for _, n := range c.text.Survey.Quotes {
		if n > 0 {
			return true
		}
	}
	return bytes.IndexByte([]byte{'"', 0}, c.Dialect.Quote) < 0
}

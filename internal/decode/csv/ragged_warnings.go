package csv

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// trimmedEnd is a part of the text, behind the last row, that has nothing but ends of lines.
type trimmedEnd struct{ from, to int64 }

// blankAround adds the blank lines above the table and at its end to those between its rows.
func (c *Table) blankAround(blanks oddLines) (oddLines, error) {
	if c.options.Rules <= feedmill.RulesFirst {
		return blanks, nil
	}
	between := blanks
	blanks = oddLines{}
	blanks.merge(c.blankHead)
	blanks.merge(between)
	parts := slices.Clone(c.trimmed)
	slices.SortFunc(parts, func(a, b trimmedEnd) int { return cmp.Compare(a.from, b.from) })
	for _, part := range parts {
		if part.from < c.end { // its lines are rows
			continue
		}
		last := int64(-1) // the first line end is that of the last row
		for at := part.from; at < part.to; at += input.ChunkSize {
			text := make([]byte, min(part.to-at, input.ChunkSize))
			if err := input.ReadFull(c.text, text, at); err != nil {
				return blanks, err
			}
			for i, b := range text {
				if b != c.Dialect.Newline {
					continue
				}
				if last >= 0 {
					blanks.add(last + 1)
				}
				last = at + int64(i)
			}
		}
	}
	return blanks, nil
}

// warnings are what was noticed of the rows that are not like the others.
func (r *raggedness) warnings(c *Table) (out []feedmill.Warning, err error) {
	if r.short > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnShortRows, Count: r.short, FirstRow: r.firstShort + 1,
			Detail: fmt.Sprintf("Some rows have fewer than %d fields; the missing fields are null. Fix the rows at the source to fill them.", c.columns),
		})
	}
	if r.long > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: r.long, FirstRow: r.firstLong + 1,
			Detail: fmt.Sprintf("Some rows have more than %d fields; the additional fields are in the columns _extra_1, _extra_2 and so on. Fix the rows or the header at the source.", c.columns),
		})
	}
	blanks, err := c.blankAround(r.blanks)
	if err != nil {
		return nil, err
	}
	for _, odd := range []struct {
		oddLines
		code, detail string
	}{
		{blanks, feedmill.WarnBlankLines, "Blank lines (first: line %d) were skipped."},
		{r.repeats, feedmill.WarnRepeatedHeader, "Repeated headers (first: line %d) were skipped."},
	} {
		if odd.count == 0 || odd.code == feedmill.WarnBlankLines && odd.count <= c.rules {
			continue
		}
		examples, err := c.lines(odd.offsets)
		if err != nil {
			return nil, err
		}
		detail := fmt.Sprintf(odd.detail, examples[0].Line)
		if more := odd.count - int64(len(examples)); more > 0 {
			detail += fmt.Sprintf(" The examples list the first %d of %d lines.", len(examples), odd.count)
		}
		out = append(out, feedmill.Warning{Code: odd.code, Count: odd.count, Examples: examples, Detail: detail})
	}
	return out, nil
}

// lines are the lines at which places of the text are, in order.
func (c *Table) lines(offsets []int64) (list []feedmill.Example, err error) {
	at, line := int64(0), int64(1)
	for _, offset := range offsets {
		newlines, err := input.CountBytes(c.text, at, offset, c.Dialect.Newline)
		if err != nil {
			return nil, err
		}
		at, line = offset, line+newlines
		list = append(list, feedmill.Example{Line: line})
	}
	return list, nil
}

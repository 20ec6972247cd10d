package csv

import (
	"fmt"

	"github.com/feedmill/feedmill"
)

// warnings are what was noticed of the rows that are not like the others.
func (r *raggedness) warnings(c *Table) (out []feedmill.Warning, err error) {
	if r.short > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnShortRows, Count: r.short, FirstRow: r.firstShort + 1,
			Detail: fmt.Sprintf("rows with fewer than %d fields; the missing ones are null", c.columns),
		})
	}
	if r.long > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: r.long, FirstRow: r.firstLong + 1,
			Detail: fmt.Sprintf("rows with more than %d fields; the others are in _extra_1 and so on", c.columns),
		})
	}
	for _, odd := range []struct {
		oddLines
		code, detail string
	}{
		{r.blanks, feedmill.WarnBlankLines, "blank lines, the first of which is line %d, are no rows"},
		{r.repeats, feedmill.WarnRepeatedHeader, "the header stands again, first in line %d, and is no row there"},
	} {
		if odd.count == 0 || odd.code == feedmill.WarnBlankLines && odd.count <= c.rules {
			continue
		}
		at, err := c.position(odd.first)
		if err != nil {
			return nil, err
		}
		out = append(out, feedmill.Warning{
			Code: odd.code, Count: odd.count, Examples: []feedmill.Example{{Line: at.Line}}, Detail: fmt.Sprintf(odd.detail, at.Line),
		})
	}
	return out, nil
}

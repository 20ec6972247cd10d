package feed

import (
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// count notes what became of the rows of a load, of which some fit their columns. Rows that
// the feed had and that a new type rejects are not part of it.
func (l *loading) count(rows, fit int64, made lake.Combined) {
	r := &l.refresh
	// A row that marks a deletion is not data.
	r.RowsIn, r.RowsStored, r.RowsRejected = rows-made.Deletions, made.Added, rows-fit
	r.RowsSuperseded, r.RowsKnown = made.Superseded.Rows, made.Known
}

// superseded warns of rows that were left out because a later row has their key.
func (l *loading) superseded(made lake.Combined) (feedmill.Warning, bool) {
	return l.duplicateKeys(made.Superseded, l.key, "Only the last row of each key is stored. Add the columns that tell these rows apart to key, or use mode=append to keep every row.")
}

// keptDuplicates warns of rows with the same key that are all stored, because the
// load replaces what is there without merging.
func (l *loading) keptDuplicates(found lake.Duplicates) (feedmill.Warning, bool) {
	return l.duplicateKeys(found, l.before.Key, "mode=replace stores every row. Use mode=merge to store only the last row of each key.")
}

func (l *loading) duplicateKeys(found lake.Duplicates, key []string, done string) (feedmill.Warning, bool) {
	if found.Rows == 0 {
		return feedmill.Warning{}, false
	}
	subject := "1 row has"
	if found.Rows > 1 {
		subject = fmt.Sprintf("%d rows have", found.Rows)
	}
	w := feedmill.Warning{
		Code: feedmill.WarnDuplicateKeys, Count: found.Rows, Examples: found.Examples,
		Detail: fmt.Sprintf("%s the same key (%s) as a later row. %s", subject, strings.Join(key, ", "), done),
	}
	if len(key) == 1 {
		w.Column = key[0]
	}
	if l.refresh.RowsRejected > 0 {
		// Rows are numbered without those that were rejected, which is not what the
		// data calls them.
		w.Examples = nil
		for _, e := range found.Examples {
			w.Examples = append(w.Examples, feedmill.Example{Value: e.Value})
		}
		return w, true
	}
	w.FirstRow = w.Examples[0].Row
	return w, true
}

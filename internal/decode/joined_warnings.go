package decode

import (
	"fmt"

	"github.com/feedmill/feedmill"
)

// maxPageWarnings is how many different warnings about pages are kept.
const maxPageWarnings = 200

// JoinedWarnings are those of several pages: what is the same in some of them is one.
type JoinedWarnings struct {
	all  []feedmill.Warning
	page []int // where each was first
	at   map[joinedKey]int
	// unexploded is that a page has nothing that is to become rows, and exploded that another has.
	unexploded *feedmill.Warning
	exploded   bool
}

// joinedKey is what the warnings have in common that become one.
type joinedKey struct{ code, column string }

// Add takes in the warnings of a page. That it has no records is none: a page
// may have none. That nothing is exploded is one where that is so in all pages.
func (j *JoinedWarnings) Add(page int, warnings []feedmill.Warning) {
	if j.at == nil {
		j.at = make(map[joinedKey]int)
	}
	for _, w := range warnings {
		key := joinedKey{w.Code, w.Column}
		i, known := j.at[key]
		switch {
		case w.Code == feedmill.WarnNoRows:
		case w.Code == feedmill.WarnExplode:
			j.unexploded = &w
		case known:
			// The first page has the first row.
			j.all[i].Count += w.Count
		case len(j.all) < maxPageWarnings:
			j.at[key] = len(j.all)
			j.all, j.page = append(j.all, w), append(j.page, page)
		}
	}
}

// Explodes notes that a page has records, and none of them without what is to become rows.
func (j *JoinedWarnings) Explodes() { j.exploded = true }

// List is all warnings. Where there are several pages, each says in which it was
// first.
func (j *JoinedWarnings) List(several bool) []feedmill.Warning {
	var out []feedmill.Warning
	if j.unexploded != nil && !j.exploded {
		out = append(out, *j.unexploded)
	}
	for i, w := range j.all {
		if several {
			w.Detail = fmt.Sprintf("page %d: %s", j.page[i], w.Detail)
		}
		out = append(out, w)
	}
	return out
}

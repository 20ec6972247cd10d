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
}

// joinedKey is what the warnings have in common that become one.
type joinedKey struct{ code, column string }

// Add takes in the warnings of a page. That it has no records is none: a page
// may have none, and nothing that is exploded.
func (j *JoinedWarnings) Add(page int, warnings []feedmill.Warning) {
	if j.at == nil {
		j.at = make(map[joinedKey]int)
	}
	for _, w := range warnings {
		key := joinedKey{w.Code, w.Column}
		i, known := j.at[key]
		switch {
		case w.Code == feedmill.WarnNoRows, w.Code == feedmill.WarnExplode:
		case known:
			// The first page has the first row.
			j.all[i].Count += w.Count
		case len(j.all) < maxPageWarnings:
			j.at[key] = len(j.all)
			j.all, j.page = append(j.all, w), append(j.page, page)
		}
	}
}

// List is all warnings. Where there are several pages, each says in which it was
// first.
func (j *JoinedWarnings) List(several bool) []feedmill.Warning {
	var out []feedmill.Warning
	for i, w := range j.all {
		if several {
			w.Detail = fmt.Sprintf("page %d: %s", j.page[i], w.Detail)
		}
		out = append(out, w)
	}
	return out
}

package feed

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// maxTraced is how many requests of a fetch are kept from its beginning, and as many
// from its end: a fetch for a million parents has a million of them.
const maxTraced = 1000

// trace is what was asked for in a fetch.
type trace struct {
	first, last []feedmill.TracedRequest
	// oldest is the place of the oldest one in last, once that is full.
	oldest int
}

func (t *trace) add(r feedmill.TracedRequest) {
	switch {
	case len(t.first) < maxTraced:
		t.first = append(t.first, r)
	case len(t.last) < maxTraced:
		t.last = append(t.last, r)
	default:
		t.last[t.oldest] = r
		t.oldest = (t.oldest + 1) % maxTraced
	}
}

// list is what is kept, in order.
func (t *trace) list() []feedmill.TracedRequest {
	return slices.Concat(t.first, t.last[t.oldest:], t.last[:t.oldest])
}

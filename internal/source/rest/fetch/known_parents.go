package fetch

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxGone is how many parents that are not there any more are remembered. One that
// was forgotten and comes back is a new one.
const maxGone = 10_000

// unknown are the parents whose windows that have passed were not fetched, because the
// parents were not there then.
func (r *run) unknown(parents []*parent) (fresh []*parent) {
	if !r.from.Known {
		return nil // Nothing was fetched yet, or by a release that did not note them.
	}
	for _, p := range parents {
		if _, known := r.from.Parents[p.key]; !known {
			fresh = append(fresh, p)
		}
	}
	return fresh
}

// reached is where the next fetch goes on from.
func (r *run) reached(done plan) Position {
	p := Position{Cursor: r.from.Cursor, Window: r.from.Window, Parents: r.cursors, Gone: maps.Clone(r.from.Gone), Fetches: r.from.Fetches + 1, Upstream: r.upstream}
	if r.upstream > 0 {
		p.UpstreamID = r.spec.Each.Feed
	}
	if n := len(done.windows); n > 0 {
		p.Window = done.windows[n-1].from.Format(time.RFC3339)
	}
	p.Known = p.Window != "" && r.spec.Each != nil
	there := make(map[string]bool, len(done.parents))
	for i := range done.parents {
		key := done.parents[i].key
		there[key] = true
		if _, kept := p.Parents[key]; p.Known && !kept {
			p.Parents[key] = "" // it is known, without a newest value
		}
	}
	p.forget(there)
	return p
}

// forget notes which parents are gone, and drops those that have been for longest.
func (p *Position) forget(there map[string]bool) {
	gone := make(map[string]int64)
	for key := range p.Parents {
		if !there[key] {
			gone[key] = cmp.Or(p.Gone[key], p.Fetches)
		}
	}
	p.Gone = gone
	if len(gone) <= maxGone {
		return
	}
	longest := slices.SortedFunc(maps.Keys(gone), func(a, b string) int { return cmp.Or(cmp.Compare(gone[a], gone[b]), cmp.Compare(a, b)) })
	for _, key := range longest[:len(gone)-maxGone] {
		delete(p.Gone, key)
		delete(p.Parents, key)
	}
}

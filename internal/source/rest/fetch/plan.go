package fetch

import (
	"context"
	"time"

	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// plan is what a fetch asks for.
type plan struct {
	units []unit
	// parted says that the units are windows, or of parents.
	parted  bool
	windows []window
	parents []parent
}

// plan finds all parts of the fetch, in the order of their records.
func (r *run) plan(ctx context.Context) (p plan, err error) {
	stepped := r.spec.Incremental != nil && r.spec.Incremental.Step > 0
	if p.parted = stepped || r.spec.Each != nil; !p.parted {
		p.units = []unit{{}}
		return p, nil
	}
	var passed []window
	if stepped {
		if p.windows, passed, err = r.windows(); err != nil {
			return p, err
		}
	}
	if r.spec.Each == nil {
		p.units = unitsOf(p.windows, []*parent{nil})
		return p, nil
	}
	if p.parents, err = r.parents(ctx); err == nil {
		err = r.checkParentIdentity(p.parents)
	}
	if err != nil {
		return p, err
	}
	all := make([]*parent, len(p.parents))
	for i := range p.parents {
		all[i] = &p.parents[i]
	}
	if !stepped {
		for _, parent := range all {
			p.units = append(p.units, unit{key: parent.key, parent: parent})
		}
		return p, nil
	}
	fresh := r.unknown(all)
	if n := len(p.windows)*len(all) + len(passed)*len(fresh); n > maxParents {
		return p, spec.Fail("too-many-pages", nil, "There are %d windows for %d parents, more than %d requests, the maximum. Choose a later start, a longer step or fewer parents.", len(p.windows)+len(passed), len(all), maxParents)
	}
	// What has passed is fetched first: the rows that can be there already are then
	// the first ones.
	p.units = unitsOf(passed, fresh)
	for i := range p.units {
		p.units[i].late = true
	}
	p.units = append(p.units, unitsOf(p.windows, all)...)
	return p, nil
}

// unitsOf are the windows of parents, one window of all of them after the other: the
// rows that the next fetch can bring again are then the last ones, and in that fetch
// the first.
func unitsOf(windows []window, parents []*parent) (all []unit) {
	for i := range windows {
		key := windows[i].from.Format(time.RFC3339) + "/" + windows[i].to.Format(time.RFC3339)
		for _, p := range parents {
			u := unit{key: key, window: &windows[i], parent: p}
			if p != nil {
				u.key = p.key + " " + key
			}
			all = append(all, u)
		}
	}
	return all
}

// rowCounts is how many rows each of the feeds has.
type rowCounts []int64

func (c *rowCounts) add(more []int64) {
	for i, n := range more {
		if i == len(*c) {
			*c = append(*c, 0)
		}
		(*c)[i] += n
	}
}

// of is how many rows a feed has.
func (c rowCounts) of(feed int) int64 {
	if feed < len(c) {
		return c[feed]
	}
	return 0
}

// most is how many records there are where each feed has so many rows.
func most(rows []int64) (n int64) {
	for _, r := range rows {
		n = max(n, r)
	}
	return n
}

// windowRows is how many rows came in a window of time.
type windowRows struct {
	from time.Time
	// late says that they are of parents that were not there when it passed.
	late bool
	rows rowCounts
}

// came adds up the rows of the units of each window.
func (p *plan) came(rows []rowCounts) (all []windowRows) {
	var last *window
	for i := range p.units {
		u := &p.units[i]
		if u.window == nil {
			return nil
		}
		if u.window != last {
			last = u.window
			all = append(all, windowRows{from: last.from, late: u.late})
		}
		all[len(all)-1].rows.add(rows[i])
	}
	return all
}

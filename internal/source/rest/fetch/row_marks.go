package fetch

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// marks says of windows that were fetched how many rows of a feed came in which, so
// that what is fetched once more is not kept twice.
type marks struct {
	// again is how many rows came in windows that were fetched before, or late.
	again int64
	// fresh is how many came in new windows before the one that the next fetch
	// begins with; it does not count where that was fetched before.
	fresh int64
	// old says that the next fetch begins with a window that was fetched before.
	old bool
	// further says that the fetch began before what the feed would have asked for.
	further bool
}

// marksOf counts the rows that a feed at a position has of windows. The next fetch goes on
// from the last window.
func marksOf(s *spec.Spec, came []windowRows, feed int, at Position) (m marks) {
	if len(came) == 0 {
		return marks{old: true}
	}
	inc := s.Incremental
	back := int((inc.Lookback + inc.Step - 1) / inc.Step)
	next := stepped(came[len(came)-1].from, inc.Step, -back)
	before, fetched := spec.TimeOf(at.Window, s.Zone)
	m.old = fetched && !next.After(before)
	for _, w := range came {
		switch {
		case w.late || fetched && !w.from.After(before):
			m.again += w.rows.of(feed)
			m.further = m.further || !w.late && w.from.Before(stepped(before, inc.Step, -back))
		case w.from.Before(next):
			m.fresh += w.rows.of(feed)
		}
	}
	return m
}

// MarkRows says which rows of feeds can have come again, and gives their positions
// the mark from which on the next fetch can bring the same.
func MarkRows(s *spec.Spec, feeds []feedmill.Feed, positions, before [][]byte, came []windowRows) ([]feedmill.FetchedAgain, error) {
	again := make([]feedmill.FetchedAgain, len(feeds))
	for i := range feeds {
		old, err := ParsePosition(before[i])
		if err != nil {
			return nil, err
		}
		p, err := ParsePosition(positions[i])
		if err != nil {
			return nil, err
		}
		m := marksOf(s, came, i, old)
		again[i] = feedmill.FetchedAgain{Kept: feeds[i].RowCount - old.Mark, Came: m.again}
		if m.further {
			again[i].Kept = feedmill.All
		}
		p.Mark = old.Mark
		switch {
		case m.old:
		case before[i] == nil:
			p.Mark = m.fresh // They take the place of what is there.
		default:
			p.Mark = feeds[i].RowCount + m.fresh
		}
		positions[i] = p.Text()
	}
	return again, nil
}

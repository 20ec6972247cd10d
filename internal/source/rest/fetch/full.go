package fetch

import (
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// FullDue reports whether a fetch is to bring everything, so that the rows that no longer
// appear can be deleted.
func FullDue(s *spec.Spec, f feedmill.Fetch) (bool, error) {
	if s.FullEvery == 0 || s.Incremental == nil || f.Enough > 0 {
		return false, nil
	}
	for _, feed := range f.Feeds {
		p, err := ParsePosition(feed.Position)
		if err != nil {
			return false, err
		}
		if feed.Expects.Accept || f.Now.Sub(p.Full) >= s.FullEvery {
			return true, nil
		}
	}
	return false, nil
}

// FromStart is a position from which everything is fetched again.
func (p Position) FromStart() Position { return Position{Fetches: p.Fetches} }

// NoteFull is a position with the time of the last full fetch: now, or that of the position
// before.
func NoteFull(s *spec.Spec, pos, before []byte, full bool, now time.Time) ([]byte, error) {
	if s.FullEvery == 0 {
		return pos, nil
	}
	p, err := ParsePosition(pos)
	if err != nil {
		return nil, err
	}
	old, err := ParsePosition(before)
	if err != nil {
		return nil, err
	}
	if p.Full = old.Full; full || len(before) == 0 {
		p.Full = now.UTC()
	}
	return p.Text(), nil
}

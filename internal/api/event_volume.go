package api

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// volumeAge is how old the counts of the catalogue can be.
	volumeAge = 10 * time.Second
	// volumeHours is how many hours are counted.
	volumeHours = 24
	// maxVolumes bounds the workspaces whose counts are kept.
	maxVolumes = 1000
)

// volumes are the counts of the catalogue by workspace.
type volumes struct {
	mu   sync.Mutex
	kept map[feedmill.ID]volume
}

// volume is what a workspace published, and who receives it.
type volume struct {
	at time.Time
	// hours are the counts by public type of each hour, oldest first; nil for an hour that was not
	// counted.
	hours [volumeHours]map[string]int
	// subscribers are the numbers of subscriptions by public type.
	subscribers map[string]int
}

// of are the counts of an event type.
func (v volume) of(name string) (hours []*int) {
	hours = make([]*int, volumeHours)
	for i, counts := range v.hours {
		if counts != nil {
			hours[i] = new(counts[name])
		}
	}
	return hours
}

// volumeOf counts the events of the last hours and the subscribers of each type, or returns
// counts that are not old.
func (s *Server) volumeOf(ctx context.Context, workspace feedmill.ID) (volume, error) {
	at := time.Now()
	s.volumes.mu.Lock()
	kept, ok := s.volumes.kept[workspace]
	s.volumes.mu.Unlock()
	if ok && at.Sub(kept.at) < volumeAge {
		return kept, nil
	}
	v := volume{at: at, subscribers: make(map[string]int)}
	left := feedmill.MaxCountedEvents
	end := at.UTC().Truncate(time.Hour).Add(time.Hour)
	for i := volumeHours - 1; i >= 0 && left > 0; i-- {
		from := end.Add(time.Duration(i-volumeHours) * time.Hour)
		found, err := s.Store.CountEvents(ctx, workspace, from, from.Add(time.Hour), left)
		if err != nil {
			return v, err
		}
		counts := make(map[string]int, len(found))
		for name, n := range found {
			counts[feedmill.PublicName(name)] += n
			left -= n
		}
		v.hours[i] = counts
	}
	for _, t := range s.Catalogue.Types() {
		n, err := s.Store.CountSubscribers(ctx, workspace, feedmill.InternalName(t.Name), feedmill.MaxCountedSubscribers)
		if err != nil {
			return v, err
		}
		v.subscribers[t.Name] = n
	}
	s.volumes.mu.Lock()
	defer s.volumes.mu.Unlock()
	if s.volumes.kept == nil || len(s.volumes.kept) >= maxVolumes {
		s.volumes.kept = make(map[feedmill.ID]volume)
	}
	s.volumes.kept[workspace] = v
	return v, nil
}

package refresh

import (
	"sync"

	"github.com/feedmill/feedmill"
)

// progress is how far the refreshes of a run have come, as far as that is not
// written yet.
type progress struct {
	mu     sync.Mutex
	latest map[feedmill.ID]counts
	fresh  map[feedmill.ID]feedmill.Refresh
}

// counts are what is told of a refresh that runs.
type counts struct {
	requests, pages, bytes, rows, parts int64
	stage                               feedmill.RefreshStage
}

func newProgress() *progress {
	return &progress{latest: make(map[feedmill.ID]counts), fresh: make(map[feedmill.ID]feedmill.Refresh)}
}

// report notes how far a refresh has come.
func (p *progress) report(r feedmill.Refresh) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := (counts{r.Requests, r.Pages, r.BytesIn, r.RowsIn, r.PartsDone, r.Stage}); p.latest[r.ID] != now {
		if r.Trace == nil {
			r.Trace = p.fresh[r.ID].Trace // which is not written yet
		}
		p.latest[r.ID] = now
		p.fresh[r.ID] = r
	}
}

// takeAll returns what is to be written and takes it as written.
func (p *progress) takeAll() (all []feedmill.Refresh) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.fresh {
		all = append(all, r)
		delete(p.fresh, id)
	}
	return all
}

// giveBack says that what was taken was not written.
func (p *progress) giveBack(all []feedmill.Refresh) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range all {
		if _, newer := p.fresh[r.ID]; !newer {
			p.fresh[r.ID] = r
		}
	}
}

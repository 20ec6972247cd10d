package lake

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

var errClosed = fmt.Errorf("%w: the worker pool is closed", feedmill.ErrUnavailable)

// spare is about the worker that is kept ready. To start one takes some ten
// milliseconds, and ten times that beside others' work: whoever asks for
// a row should not wait for it because another has just taken, or
// ended, the last one that was there.
type spare struct {
	// wanted says that one is kept, and timer will say so.
	wanted bool
	timer  *time.Timer
	// starting says that one is being started.
	starting bool
}

func (s *spare) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// acquire returns a worker that is idle, or a new one.
func (p *Pool) acquire(holder string, database *databaseFile) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed {
		w := p.takeIdle(holder, database)
		if w == nil && (database != nil || p.hasRoom()) {
			var err error
			if w, err = p.startOwn(database); err != nil {
				return nil, err
			}
		}
		if w != nil {
			p.busy[w] = true
			p.keepSpare()
			return w, nil
		}
		// There are as many as there may be, of which one that nobody asked for is
		// being started: who works has a place, of which there are no more than workers.
		p.ready.Wait()
	}
	return nil, errClosed
}

// hasRoom reports whether there may be one more worker of feeds. The pool is locked.
func (p *Pool) hasRoom() bool {
	n := p.starting + len(p.idle)
	for w := range p.busy {
		if w.database == nil {
			n++
		}
	}
	return n < p.config.Workers
}

// takeIdle is a worker that is idle and can read a file, if one is named. The
// pool is locked.
func (p *Pool) takeIdle(holder string, database *databaseFile) *process {
	if database != nil {
		return p.takeIdleFor(database)
	}
	p.idle = slices.DeleteFunc(p.idle, func(w *process) bool {
		dead := !w.alive()
		if dead {
			_ = w.conn.Close()
		}
		return dead
	})
	// Who uses much takes those that were set back, and leaves the last of the others
	// to others where he can have his own.
	much := p.loads.isMuch(holder)
	at := p.lastIdle(much)
	if at < 0 {
		at = p.lastIdle(!much)
		if much && p.countIdle() == 1 && p.hasRoom() {
			return nil
		}
	}
	if at < 0 {
		return nil
	}
	w := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return w
}

// lastIdle is where the idle worker is that was used last of those that were set
// back, or were not. The pool is locked.
func (p *Pool) lastIdle(setBack bool) int {
	for i, w := range slices.Backward(p.idle) {
		if w.setBack == setBack {
			return i
		}
	}
	return -1
}

// countIdle is how many idle workers were not set back. The pool is locked.
func (p *Pool) countIdle() (n int) {
	for _, w := range p.idle {
		if !w.setBack {
			n++
		}
	}
	return n
}

// startOwn starts a worker for whoever asks for it. The pool is locked, but not
// meanwhile.
func (p *Pool) startOwn(database *databaseFile) (*process, error) {
	p.reaper.Add(1) // Close waits for what is being started
	defer p.reaper.Done()
	if database == nil {
		p.starting++
		if p.spare.timer == nil {
			p.spare.timer = time.AfterFunc(p.config.SpareAfter, p.wantSpare)
		}
	}
	p.mu.Unlock()
	w, err := start(&p.config, database, &p.reaper)
	p.mu.Lock()
	if database == nil {
		p.starting--
		p.ready.Broadcast() // there is room where it has failed
	}
	if err != nil {
		return nil, fmt.Errorf("%w: start a worker: %w", feedmill.ErrUnavailable, err)
	}
	if p.closed {
		w.kill()
		return nil, errClosed
	}
	return w, nil
}

// wantSpare has a worker kept ready from now on.
func (p *Pool) wantSpare() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare.wanted = true
	p.keepSpare()
}

// keepSpare starts a worker where none is idle, but for those that were set back, and
// there may be one more. The pool is locked.
func (p *Pool) keepSpare() {
	if p.closed || !p.spare.wanted || p.spare.starting || p.countIdle() > 0 || !p.hasRoom() {
		return
	}
	p.spare.starting = true
	p.starting++
	p.reaper.Go(func() {
		w, err := start(&p.config, nil, &p.reaper)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.starting--
		p.spare.starting = false
		p.ready.Broadcast()
		switch {
		case err != nil: // whoever needs one tries again, and is told
			p.config.Log.Warn("starting a spare worker failed", "error", err)
		case p.closed:
			w.kill()
		default:
			p.idle = append(p.idle, w)
			p.config.Log.Debug("spare worker started")
		}
	})
}

// release takes a worker back, for the next request or, if it is not to be kept, to end it.
func (p *Pool) release(w *process, keep bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, w)
	switch {
	case !keep || p.closed:
		w.kill()
		p.keepSpare()
		p.ready.Broadcast()
	case w.database != nil:
		p.keepIdleFor(w)
	default:
		p.idle = append(p.idle, w)
		p.ready.Broadcast()
	}
}
